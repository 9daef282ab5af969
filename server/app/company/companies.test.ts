import { createTestDatabase, useTestDatabase } from "@sitewright/server/testing/database.ts";
import { describe, expect, it } from "vitest";
import { createCompany, ensureFirstCompany, UnusableCompany } from "./companies.ts";
import { makeIdentities } from "./identities.ts";
import { isPassword } from "./passwords.ts";
import { readToken } from "./token.ts";

const test = useTestDatabase();

describe("a new company", () => {
  it("has an owner who can sign in and a key that works", async () => {
    const facts = await createCompany(test.database, { name: "  Acme & Söhne  " });
    expect(Object.keys(facts)).toEqual(["company_id", "api_key", "admin_email", "admin_password"]);
    const company = await test.database
      .selectFrom("companies")
      .selectAll()
      .where("id", "=", facts.company_id)
      .execute();
    expect(company).toMatchObject([{ name: "Acme & Söhne" }]);
    const identified = await makeIdentities(test.pool).identify(readToken(facts.api_key), null, true);
    expect(identified?.caller).toMatchObject({ companyId: facts.company_id, role: "owner", scopes: null });
    const user = await test.database
      .selectFrom("users")
      .selectAll()
      .where("company_id", "=", facts.company_id)
      .executeTakeFirstOrThrow();
    expect(user.email).toBe(facts.admin_email);
    expect(await isPassword(facts.admin_password, user.password_hash)).toBe(true);
    expect(await isPassword(`${facts.admin_password}x`, user.password_hash)).toBe(false);
    expect(user.password_hash).not.toContain(facts.admin_password);
  });

  it("can share its name with another company, but not its owner's e-mail address", async () => {
    await createCompany(test.database, { name: "Twin", adminEmail: "twin@example.com" });
    await createCompany(test.database, { name: "Twin" });
    await expect(createCompany(test.database, { name: "Third", adminEmail: "TWIN@example.com" })).rejects.toThrow(
      new UnusableCompany("There is already a user with the e-mail address TWIN@example.com."),
    );
    const third = await test.database.selectFrom("companies").selectAll().where("name", "=", "Third").execute();
    expect(third).toEqual([]);
  });

  it.each(["", "   ", "x".repeat(201), "two\nlines", "nul\0", "\ud800"])("can't have the name %j", async (name) => {
    await expect(createCompany(test.database, { name })).rejects.toThrow(UnusableCompany);
  });
});

describe("the first company", () => {
  it("is created once if several processes start at the same time", async () => {
    await using own = await createTestDatabase();
    const created = await Promise.all(Array.from({ length: 5 }, () => ensureFirstCompany(own.database, null)));
    expect(created.filter((facts) => facts !== null)).toHaveLength(1);
    expect(await own.database.selectFrom("companies").select("id").execute()).toHaveLength(1);
    expect(await ensureFirstCompany(own.database, null)).toBeNull();
  });

  it("gets the key that the operator chose, in any form", async () => {
    for (const key of ["automation-chose-this", "sk_test_0123456789", `sk_${"0".repeat(32)}_${"A".repeat(43)}`]) {
      await using own = await createTestDatabase();
      const facts = await ensureFirstCompany(own.database, key);
      expect(facts?.api_key).toBe(key);
      expect((await makeIdentities(own.pool).identify(readToken(key), null, true))?.caller.companyId).toBe(
        facts?.company_id,
      );
      expect(await makeIdentities(own.pool).identify(readToken(`${key}x`), null, true)).toBeNull();
    }
  });

  it("is not created with a key that can't be sent in a header", async () => {
    await using own = await createTestDatabase();
    for (const key of ["short", "with a space in the middle", "x".repeat(201)]) {
      await expect(ensureFirstCompany(own.database, key)).rejects.toThrow(/SITEWRIGHT_FIRST_API_KEY must be/);
    }
    expect(await own.database.selectFrom("companies").select("id").execute()).toEqual([]);
  });

  it("is not created if its key and password can't be stored", async () => {
    await using own = await createTestDatabase();
    const keep = async () => {
      throw new Error("No space left on device");
    };
    await expect(ensureFirstCompany(own.database, null, keep)).rejects.toThrow("No space left");
    expect(await ensureFirstCompany(own.database, null)).not.toBeNull();
  });
});
