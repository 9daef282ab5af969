import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { insertTestCompany } from "../../testing/engine.ts";
import { insertOperation } from "../operations.ts";
import { addApiKey, addCompany, addSite } from "../testing/rows.ts";
import { recordActivity, systemActor } from "./activity.ts";
import { deleteEndedApiKeys, findKey, listApiKeys, lockApiKey, revokeApiKey } from "./apiKeys.ts";

const test = useTestDatabase();

describe("finding a key", () => {
  it("returns it with its user", async () => {
    const owner = await addCompany(test.database);
    const key = await addApiKey(test.database, owner, { name: "Deploy", scopes: ["read"] });
    expect(await findKey(test.pool, key.id, null)).toEqual({
      key_id: key.id,
      key_kind: "key",
      key_name: "Deploy",
      secret_hash: key.secretHash,
      scopes: ["read"],
      expires_at: null,
      allowed_addresses: null,
      is_usable: true,
      company_id: owner.companyId,
      user_id: owner.userId,
      role: "owner",
      full_name: "Ada Lovelace",
      first_name: "Ada",
      site_ids: null,
      labelled_sites: [],
      is_operator: false,
      must_change_password: false,
      must_add_second_factor: false,
      target_company_id: null,
      target_site_id: null,
      target_is_live: null,
    });
    expect(await findKey(test.pool, randomUUID(), null)).toBeNull();
  });

  it("says whether it can be used, by the database's clock", async () => {
    const owner = await addCompany(test.database);
    const isUsable = async (id: string) => (await findKey(test.pool, id, null))?.is_usable;
    const later = await addApiKey(test.database, owner, { expiresAt: new Date(Date.now() + 60_000) });
    const past = await addApiKey(test.database, owner, { expiresAt: new Date(Date.now() - 1_000) });
    const revoked = await addApiKey(test.database, owner);
    await test.database.transaction().execute((transaction) => revokeApiKey(transaction, revoked.id, new Date()));
    expect([await isUsable(later.id), await isUsable(past.id), await isUsable(revoked.id)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("returns the company of the target site, unless the site is still being added", async () => {
    const key = await addApiKey(test.database, await addCompany(test.database));
    const other = await addCompany(test.database);
    const site = await addSite(test.database, other.companyId);
    const target = async (id: string) => {
      const found = await findKey(test.pool, key.id, { kind: "site", id });
      return [found?.target_company_id, found?.target_site_id];
    };
    expect(await target(site.id)).toEqual([other.companyId, site.id]);
    expect(await target(randomUUID())).toEqual([null, null]);
    await test.database.updateTable("sites").set({ state: "adding" }).where("id", "=", site.id).execute();
    expect(await target(site.id)).toEqual([null, null]);
  });

  it("returns the company of an operation, even if its site is gone", async () => {
    const key = await addApiKey(test.database, await addCompany(test.database));
    const companyId = await insertTestCompany(test.database);
    const [id, siteId] = [`sites:add-${randomUUID()}`, randomUUID()];
    await test.database.transaction().execute(async (transaction) => {
      const entry = { companyId, siteId, category: "siteActions", type: "addSite", parameters: {}, actor: systemActor };
      await insertOperation(transaction, {
        id,
        kind: "addSite",
        companyId,
        siteId,
        environmentId: null,
        activityId: await recordActivity(transaction, entry),
        state: "running",
        stepsTotal: 3,
        input: {},
        secret: null,
        referenceId: randomUUID(),
      });
    });
    const found = await findKey(test.pool, key.id, { kind: "operation", id });
    expect([found?.target_company_id, found?.target_site_id]).toEqual([companyId, siteId]);
    const unknown = await findKey(test.pool, key.id, { kind: "operation", id: "sites:add-'; --" });
    expect(unknown?.target_company_id).toBeNull();
  });
});

describe("a company's keys", () => {
  it("are listed newest first, for the company or one user", async () => {
    const owner = await addCompany(test.database);
    const other = await addCompany(test.database);
    const one = await addApiKey(test.database, owner);
    const two = await addApiKey(test.database, owner);
    const ids = async (user: string | null) =>
      (await listApiKeys(test.database, owner.companyId, user)).map(({ id }) => id);
    expect(await ids(null)).toEqual([two.id, one.id]);
    expect(await ids(owner.userId)).toEqual([two.id, one.id]);
    expect(await ids(other.userId)).toEqual([]);
  });

  it("can be locked only by that company", async () => {
    const owner = await addCompany(test.database);
    const other = await addCompany(test.database);
    const key = await addApiKey(test.database, owner);
    await test.database.transaction().execute(async (transaction) => {
      expect((await lockApiKey(transaction, owner.companyId, key.id))?.id).toBe(key.id);
      expect(await lockApiKey(transaction, other.companyId, key.id)).toBeNull();
    });
  });
});

describe("deleting ended keys", () => {
  it("removes keys that ended long ago, but none with a key below it", async () => {
    const owner = await addCompany(test.database);
    const days = (count: number) => new Date(Date.now() - count * 86_400_000);
    const add = (name: string, more: object) => addApiKey(test.database, owner, { name, ...more });
    await add("expired", { expiresAt: days(401) });
    await add("recent", { expiresAt: days(399) });
    const parent = await add("parent", { expiresAt: days(500) });
    await add("child", { expiresAt: days(399), createdBy: parent.id });
    const revoked = await add("revoked", { expiresAt: days(-1) });
    await test.database.transaction().execute((open) => revokeApiKey(open, revoked.id, days(401)));
    await add("usable", {});
    await deleteEndedApiKeys(test.database, 400);
    const left = await listApiKeys(test.database, owner.companyId, null);
    expect(left.map(({ name }) => name).toSorted()).toEqual(["child", "parent", "recent", "usable"]);
  });
});
