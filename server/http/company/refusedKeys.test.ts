/** Refused API keys in the activity log. */
import { randomUUID } from "node:crypto";
import { makeToken } from "@sitewright/server/app/company/token.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const path = () => `/v2/company/${test.current.company.company_id}/api-keys`;
const call = (key: string | null, to = path(), method: "GET" | "POST" = "GET", headers = {}) =>
  test.current.call(method, to, { key, headers });

/** The entries about refused keys that the flush writes, in the log of the company or, with null, the operator's. */
async function written(companyId: string | null = test.current.company.company_id) {
  await test.current.flushActivity();
  const entries = await test.current.database
    .selectFrom("activity")
    .select(["parameters", "public_error", "api_key_id", "ip_address", "has_failed", "is_done"])
    .where("type", "=", "useApiKey")
    .where("company_id", "is not distinct from", companyId)
    .orderBy("public_error")
    .execute();
  await test.current.database.deleteFrom("activity").where("type", "=", "useApiKey").execute();
  return entries;
}

beforeEach(async () => {
  await written();
});

describe("the activity log of a company", () => {
  it("has one entry with the number of uses of a revoked key by an address", async () => {
    const { id, token } = await test.current.addKey({ name: "Leaked" });
    await test.current.call("DELETE", `${path()}/${id}`);
    for (let time = 0; time < 3; time += 1) expect((await call(token)).status).toBe(401);
    expect(await written()).toEqual([
      {
        parameters: { keyName: "Leaked", count: "3" },
        public_error: "The key is revoked.",
        api_key_id: id,
        ip_address: "127.0.0.1",
        has_failed: true,
        is_done: true,
      },
    ]);
    expect(await written()).toEqual([]);
  });

  it("has uses of an expired key", async () => {
    const { id, token } = await test.current.addKey({ name: "Old" });
    const past = new Date(Date.now() - 1_000);
    await test.current.database.updateTable("api_keys").set({ expires_at: past }).where("id", "=", id).execute();
    await call(token);
    expect(await written()).toMatchObject([{ api_key_id: id, public_error: "The key has expired." }]);
  });

  it("has calls that a key's scopes do not allow, also with an Idempotency-Key", async () => {
    const { token } = await test.current.addKey({ name: "Reader", scopes: ["read"] });
    expect((await call(token, path(), "POST")).status).toBe(403);
    expect((await call(token, path(), "POST", { "idempotency-key": randomUUID() })).status).toBe(403);
    expect(await written()).toMatchObject([
      { parameters: { keyName: "Reader", count: "2" }, public_error: "It may not call POST /company/{id}/api-keys." },
    ]);
  });

  it("has requests from an address that is not among the key's", async () => {
    const { id, token } = await test.current.addKey({ name: "Deploy", allowed_addresses: ["203.0.113.0/24"] });
    await call(token, path(), "GET", { "x-forwarded-for": "198.51.100.1" });
    expect(await written()).toMatchObject([
      { api_key_id: id, ip_address: "198.51.100.1", public_error: "It is not accepted from this address." },
    ]);
  });

  it("has no entry for requests without a key or with a good one", async () => {
    await call(null);
    await call(test.current.company.api_key);
    expect(await written()).toEqual([]);
    expect(await written(null)).toEqual([]);
  });

  it("is not flooded by a key that is tried from many addresses", async () => {
    const { id, token } = await test.current.addKey({ name: "Leaked" });
    await test.current.call("DELETE", `${path()}/${id}`);
    for (let address = 0; address < 300; address += 1) {
      await call(token, path(), "GET", { "x-forwarded-for": `2001:db8:0:${address.toString(16)}::1` });
    }
    const entries = await written();
    expect(entries).toHaveLength(21);
    expect(entries.reduce((sum, { parameters }) => sum + Number(parameters.count), 0)).toBe(300);
    expect(entries.filter(({ ip_address }) => ip_address === null)).toHaveLength(1);
  });
});

describe("the operator's activity log", () => {
  it("has one entry for all unknown keys of an address, without the keys", async () => {
    const { company, addKey } = test.current;
    const { id } = await addKey({ name: "Guessed" });
    const wrongSecret = makeToken().replace(/^sk_[0-9a-f]{32}/, `sk_${id.replaceAll("-", "")}`);
    for (const token of [makeToken(), makeToken(), wrongSecret, "nonsense"]) await call(token);
    await test.current.flushActivity();
    const rows = await test.current.database
      .selectFrom("activity")
      .selectAll()
      .where("company_id", "is", null)
      .execute();
    expect(rows).toMatchObject([{ public_error: "There is no such key.", ip_address: "127.0.0.1", api_key_id: null }]);
    expect(rows[0]?.parameters).toEqual({ count: "4" });
    expect(JSON.stringify(rows)).not.toContain("sk_");
    expect(await written(company.company_id)).toEqual([]);
  });

  it("has calls about another company's resources, which neither company learns", async () => {
    const { addSite, company, otherCompany } = test.current;
    const site = await addSite({}, otherCompany.api_key);
    expect((await call(company.api_key, `/v2/sites/${site}`)).status).toBe(404);
    expect((await call(company.api_key, `/v2/sites/${randomUUID()}`)).status).toBe(404);
    await test.current.flushActivity();
    for (const { company_id } of [company, otherCompany]) {
      const rows = test.current.database.selectFrom("activity").select("id").where("type", "=", "useApiKey");
      expect(await rows.where("company_id", "=", company_id).execute()).toEqual([]);
    }
    expect(await written(null)).toMatchObject([
      { parameters: { companyId: company.company_id, keyName: "First key", count: "1" } },
    ]);
  });
});
