import { randomUUID } from "node:crypto";
import type { Role } from "@sitewright/contract/endpoint.ts";
import { describe, expect, it } from "vitest";
import { addKeyOf } from "../testing/roles.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

const sitesPath = () => `/v2/company/${test.current.company.company_id}/deleted-sites`;
const restoreSite = (id: string, options: { readonly body?: unknown; readonly key?: string } = {}) =>
  test.current.call("POST", `${sitesPath()}/${id}/restore`, options);
const environmentsPath = (siteId: string) => `/v2/sites/${siteId}/deleted-environments`;
const restoreEnvironment = (siteId: string, id: string, body?: unknown) =>
  test.current.call("POST", `${environmentsPath(siteId)}/${id}/restore`, { body });

async function inputOf(operationId: string) {
  const row = test.current.database.selectFrom("operations").selectAll().where("id", "=", operationId);
  return Object(await row.executeTakeFirstOrThrow());
}

/** Adds a site with two environments and deletes it. `before` is what `GET /sites/{site_id}` returned. */
async function deletedSite(fields: Readonly<Record<string, unknown>> = {}) {
  const { addEnvironment, addSite, call, deleteSite } = test.current;
  const id = await addSite(fields);
  const { id: stagingId, liveId } = await addEnvironment(id);
  const before = (await call("GET", `/v2/sites/${id}`)).body.site;
  await deleteSite(id);
  return { id, stagingId, liveId, before };
}

const listed = async (key?: string) =>
  (await test.current.call("GET", sitesPath(), key === undefined ? {} : { key })).body.company.deleted_sites;
const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

/** Sets the time until which it can be restored. */
async function setRestorableUntil(
  table: "deleted_sites" | "deleted_environments",
  id: string,
  until: Date,
): Promise<void> {
  await test.current.database.updateTable(table).set({ restorable_until: until }).where("id", "=", id).execute();
}

describe("the list of deleted sites", () => {
  it("has restorable sites with their environments, most recently deleted first", async () => {
    const first = await deletedSite({ display_name: "First garden" });
    const second = await deletedSite();
    const [one, other] = await listed();
    expect([one.id, other.id]).toEqual([second.id, first.id]);
    expect(other).toEqual({
      id: first.id,
      name: "first-garden",
      display_name: "First garden",
      region: "this-machine",
      deleted_at: expect.any(Number),
      deleted_by: "Owner",
      restorable_until: expect.any(Number),
      environments: [
        expect.objectContaining({ id: first.liveId, name: "live", display_name: "Live", size_bytes: 1_000 }),
        expect.objectContaining({ id: first.stagingId, is_premium: false, is_blocked: false }),
      ],
    });
    expect(other.restorable_until).toBeGreaterThan(other.deleted_at);
    expect(other.environments[1].backup_id).not.toBe(other.environments[0].backup_id);
  });

  it("has no sites of other companies", async () => {
    const { id } = await deletedSite();
    const { call, otherCompany } = test.current;
    const path = `/v2/company/${otherCompany.company_id}/deleted-sites`;
    const theirs = await call("GET", path, { key: otherCompany.api_key });
    expect(theirs.body).toEqual({ company: { deleted_sites: [] } });
    expect((await call("GET", sitesPath(), { key: otherCompany.api_key })).status).toBe(404);
    expect((await call("GET", `/v2/sites/${id}`)).status).toBe(404);
  });

  it("has only the sites in the key's scope", async () => {
    const { addKey, addSite, deleteSite } = test.current;
    const own = await addSite();
    const { token } = await addKey({ scopes: [`site:${own}`] });
    await deleteSite(own);
    const { id: other } = await deletedSite();
    expect(idsOf(await listed(token))).toEqual([own]);
    const refused = await restoreSite(other, { key: token });
    expect(refused.status).toBe(403);
    expect(refused.body.data).toEqual({ code: "scope_missing", needs: `site:${other}` });
    expect((await restoreSite(own, { key: token })).status).toBe(202);
  });

  it("omits sites that can no longer be restored", async () => {
    const { id } = await deletedSite();
    const { id: withoutLive, liveId } = await deletedSite();
    await setRestorableUntil("deleted_sites", id, new Date(Date.now() - 1));
    await test.current.database.deleteFrom("backups").where("environment_id", "=", liveId).execute();
    expect(idsOf(await listed())).not.toContain(id);
    expect(idsOf(await listed())).not.toContain(withoutLive);
    expect((await restoreSite(id)).status).toBe(404);
    expect((await restoreSite(withoutLive)).status).toBe(404);
  });

  it("names the next older backup if the newest was deleted", async () => {
    const { addBackup, addSite, call, database, deleteSite } = test.current;
    const id = await addSite();
    const liveId = (await call("GET", `/v2/sites/${id}`)).body.site.environments[0].id;
    const earlier = await addBackup(liveId);
    await deleteSite(id);
    const [site] = await listed();
    await database.deleteFrom("backups").where("id", "=", site.environments[0].backup_id).execute();
    expect((await listed())[0].environments[0].backup_id).toBe(earlier);
  });
});

describe("restoring a site", () => {
  it("keeps ids, addresses and names, and starts from the newest backups", async () => {
    const { call, succeed } = test.current;
    const { id, liveId, stagingId, before } = await deletedSite();
    const [{ environments }] = await listed();
    const answer = await restoreSite(id);
    expect(answer.body).toEqual({
      operation_id: expect.stringMatching(/^sites:restore-deleted-/),
      message: "Restoring deleted site in progress",
      status: 202,
    });
    const operation = await inputOf(answer.body.operation_id);
    expect(operation).toMatchObject({ kind: "restoreDeletedSite", site_id: id, environment_id: liveId });
    expect(operation.input).toMatchObject({
      siteId: id,
      isSite: true,
      environments: [
        { environment: { id: liveId }, backupId: environments[0].backup_id },
        { environment: { id: stagingId }, backupId: environments[1].backup_id },
      ],
    });
    expect((await call("GET", `/v2/sites/${id}`)).status).toBe(404);
    expect((await listed())[0].environments[0].is_blocked).toBe(true);
    await succeed(answer.body.operation_id);
    expect((await call("GET", `/v2/sites/${id}`)).body.site).toEqual(before);
  });

  it("keeps the settings of its environments and domains", async () => {
    const { addSite, call, database, deleteSite, succeed } = test.current;
    const id = await addSite();
    const facts = { php_version: "8.2", is_opt_out_from_automatic_php_update: true, is_premium: true };
    await database.updateTable("environments").set(facts).where("site_id", "=", id).execute();
    await database.updateTable("domains").set({ is_wildcard: true }).where("site_id", "=", id).execute();
    const listOf = async () => (await call("GET", `/v2/sites/${id}/environments`)).body.site.environments[0];
    const before = await listOf();
    await deleteSite(id);
    await succeed((await restoreSite(id)).body.operation_id);
    // `web_root` contains a number, and numbers are never reused.
    const after = await listOf();
    expect(after.web_root).not.toBe(before.web_root);
    expect(after).toEqual({ ...before, web_root: after.web_root });
    const domain = database.selectFrom("domains").select("is_wildcard").where("site_id", "=", id);
    expect(await domain.executeTakeFirst()).toEqual({ is_wildcard: true });
  });

  it("is refused while it is in progress, and a 404 afterwards", async () => {
    const { database, succeed } = test.current;
    const { id } = await deletedSite();
    const both = await Promise.all([restoreSite(id), restoreSite(id)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([202, 400]);
    const refused = both.find(({ status }) => status === 400);
    expect(refused?.body.data.code).toBe("being_brought_back");
    await succeed(both.find(({ status }) => status === 202)?.body.operation_id);
    await database.deleteFrom("deleted_sites").where("id", "=", id).execute();
    expect((await restoreSite(id)).status).toBe(404);
  });

  it("is refused if the display name is in use by now, ignoring case, and works with another", async () => {
    const { addSite, call, succeed } = test.current;
    const { id, before } = await deletedSite({ display_name: "Taken name" });
    await addSite({ display_name: "TAKEN NAME" });
    const refused = await restoreSite(id);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({
      message: 'A site with the name "Taken name" already exists. Restore it with another display_name.',
      data: { code: "site_name_taken", display_name: "Taken name" },
    });
    const answer = await restoreSite(id, { body: { display_name: "Regained name" } });
    const { environments } = (await inputOf(answer.body.operation_id)).input;
    const staging = before.environments[1].name;
    expect(environments.map(({ address }: { address: string }) => address)).toEqual([
      "http://regained-name.localhost:8081",
      `http://${staging}-regained-name.localhost:8081`,
    ]);
    await succeed(answer.body.operation_id);
    const { site } = (await call("GET", `/v2/sites/${id}`)).body;
    expect(site).toMatchObject({ name: "regained-name", display_name: "Regained name" });
    expect(idsOf(site.environments)).toEqual(idsOf(before.environments));
  });

  it("is refused if another company's site has one of its addresses, and leaves no rows", async () => {
    const { addSite, call, database, otherCompany, succeed } = test.current;
    const { id, before } = await deletedSite({ display_name: "Corner shop" });
    await addSite({ display_name: `${before.environments[1].name} corner shop` }, otherCompany.api_key);
    const refused = await restoreSite(id);
    expect(refused.body).toMatchObject({
      message: "Another site now has an address of the site Corner shop. Restore it with another display_name.",
      data: { code: "site_name_taken" },
    });
    expect(await database.selectFrom("sites").select("id").where("id", "=", id).execute()).toEqual([]);
    // Sending a name, even the old one, derives new addresses.
    await succeed((await restoreSite(id, { body: { display_name: "Corner shop" } })).body.operation_id);
    expect((await call("GET", `/v2/sites/${id}`)).body.site.name).toBe("corner-shop-2");
  });

  it.each([
    [{ display_name: "" }, "/display_name"],
    [{ display_name: 1 }, "/display_name"],
    [{ display_name: null }, "/display_name"],
    [{ display_name: "x".repeat(101) }, "/display_name"],
    [{ display_name: "two\nlines" }, "/display_name"],
  ])("with %j is refused", async (body, path) => {
    const { id } = await deletedSite();
    const answer = await restoreSite(id, { body });
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors.map((error: { path: string }) => error.path)).toContain(path);
  });

  it("is a 404 under another company's path, and for sites that are not deleted", async () => {
    const { addSite, call, otherCompany } = test.current;
    const { id } = await deletedSite();
    const path = `/v2/company/${otherCompany.company_id}/deleted-sites/${id}/restore`;
    expect((await call("POST", path)).status).toBe(404);
    expect((await call("POST", path, { key: otherCompany.api_key })).status).toBe(404);
    expect((await restoreSite(await addSite())).status).toBe(404);
    expect((await restoreSite(randomUUID())).status).toBe(404);
  });

  it("releases the names at once if an environment is busy", async () => {
    const { call, database } = test.current;
    const { id } = await deletedSite();
    const [{ environments }] = await listed();
    await call("DELETE", `/v2/sites/environments/backups/${environments[1].backup_id}`);
    const answer = await restoreSite(id);
    const operation = await call("GET", `/v2/operations/${answer.body.operation_id}`);
    expect(operation.body.data.message).toContain("blocked by another process");
    expect(await database.selectFrom("sites").select("id").where("id", "=", id).execute()).toEqual([]);
    expect(idsOf(await listed())).toContain(id);
  });

  it("is forbidden for non-live keys", async () => {
    const { token } = await test.current.addKey({ scopes: ["non-live"] });
    const { id } = await deletedSite();
    const refused = await restoreSite(id, { key: token });
    expect(refused.body.data).toEqual({ code: "scope_missing", needs: "live" });
  });
});

describe("a deleted environment", () => {
  async function deletedEnvironment() {
    const { addEnvironment, addSite, call, deleteEnvironment } = test.current;
    const siteId = await addSite();
    const { id } = await addEnvironment(siteId);
    const before = (await call("GET", `/v2/sites/${siteId}`)).body.site;
    await deleteEnvironment(id);
    return { siteId, id, before };
  }

  const listOf = async (siteId: string) =>
    (await test.current.call("GET", environmentsPath(siteId))).body.site.deleted_environments;

  it("is listed and restored unchanged", async () => {
    const { call, succeed } = test.current;
    const { siteId, id, before } = await deletedEnvironment();
    expect(await listOf(siteId)).toEqual([
      {
        id,
        name: before.environments[1].name,
        display_name: before.environments[1].display_name,
        is_premium: false,
        is_blocked: false,
        deleted_at: expect.any(Number),
        deleted_by: "Owner",
        restorable_until: expect.any(Number),
        backup_id: expect.any(Number),
        backed_up_at: expect.any(Number),
        size_bytes: 1_000,
      },
    ]);
    expect((await call("GET", `/v2/sites/${siteId}`)).body.site.environments).toHaveLength(1);
    const answer = await restoreEnvironment(siteId, id);
    expect(answer.body).toEqual({
      operation_id: expect.stringMatching(/^environments:restore-deleted-/),
      message: "Restoring deleted environment in progress",
      status: 202,
    });
    expect((await inputOf(answer.body.operation_id)).input).toMatchObject({ isSite: false, environments: [{}] });
    expect((await restoreEnvironment(siteId, id)).body.data.code).toBe("being_brought_back");
    await succeed(answer.body.operation_id);
    expect((await call("GET", `/v2/sites/${siteId}`)).body.site).toEqual(before);
  });

  it("needs another name if its name is in use by now, but not `live`", async () => {
    const { call, succeed } = test.current;
    const { siteId, id, before } = await deletedEnvironment();
    const { display_name } = before.environments[1];
    const newEnvironment = { display_name, is_premium: false };
    const taken = await call("POST", `/v2/sites/${siteId}/environments/plain`, { body: newEnvironment });
    await succeed(taken.body.operation_id);
    const refused = await restoreEnvironment(siteId, id);
    expect(refused.body.data).toEqual({ code: "environment_name_taken", display_name });
    expect(refused.body.message).toContain("Restore it with another display_name.");
    const live = await restoreEnvironment(siteId, id, { display_name: "LIVE!" });
    expect(live.body.data.code).toBe("environment_name_reserved");
    const answer = await restoreEnvironment(siteId, id, { display_name: "Regained" });
    await succeed(answer.body.operation_id);
    const { environments } = (await call("GET", `/v2/sites/${siteId}`)).body.site;
    const regained = environments.find((environment: { id: string }) => environment.id === id);
    expect(regained).toMatchObject({ name: "regained", display_name: "Regained" });
    expect(regained.primaryDomain.name).toBe(`regained-${before.name}.localhost`);
  });

  it("is a 404 under another site, if it is unknown, or if it can no longer be restored", async () => {
    const { addSite } = test.current;
    const { siteId, id } = await deletedEnvironment();
    expect((await restoreEnvironment(await addSite(), id)).status).toBe(404);
    expect((await restoreEnvironment(siteId, randomUUID())).status).toBe(404);
    await setRestorableUntil("deleted_environments", id, new Date(Date.now() - 1));
    expect((await restoreEnvironment(siteId, id)).status).toBe(404);
    expect(await listOf(siteId)).toEqual([]);
  });

  it("can't be restored to a site that is being deleted", async () => {
    const { siteId, id } = await deletedEnvironment();
    await test.current.call("DELETE", `/v2/sites/${siteId}`);
    expect((await restoreEnvironment(siteId, id)).body.data.code).toBe("site_being_deleted");
  });

  it("is not restored with its site, but listed again once the site is restored", async () => {
    const { deleteSite, succeed } = test.current;
    const { siteId, id } = await deletedEnvironment();
    await deleteSite(siteId);
    expect(idsOf((await listed())[0].environments)).not.toContain(id);
    await succeed((await restoreSite(siteId)).body.operation_id);
    expect(idsOf(await listOf(siteId))).toEqual([id]);
  });
});

describe("deleting for good", () => {
  it.each([
    ["in the body", { body: { without_backup: true }, query: "" }, true],
    ["in the query", { query: "?without_backup=true" }, true],
    ["in neither", { query: "" }, false],
    ["as false in both", { body: { without_backup: false }, query: "?without_backup=false" }, false],
  ])("takes without_backup %s", async (_, { query, ...options }, withoutBackup) => {
    const { addEnvironment, addSite, call } = test.current;
    const siteId = await addSite();
    const { id } = await addEnvironment(siteId);
    const environment = await call("DELETE", `/v2/sites/environments/${id}${query}`, options);
    expect((await inputOf(environment.body.operation_id)).input).toMatchObject({ withoutBackup });
    const site = await call("DELETE", `/v2/sites/${await addSite()}${query}`, options);
    expect((await inputOf(site.body.operation_id)).input).toMatchObject({ withoutBackup });
  });

  it("is refused if the query and the body contradict each other", async () => {
    const { addSite, call } = test.current;
    const path = `/v2/sites/${await addSite()}?without_backup=`;
    for (const inQuery of [true, false]) {
      const answer = await call("DELETE", `${path}${inQuery}`, { body: { without_backup: !inQuery } });
      expect([answer.status, answer.body.data.errors?.[0].path]).toEqual([400, "/without_backup"]);
    }
  });

  it.each([[{ without_backup: "yes" }], [{ without_backup: 1 }], [{ without_backup: null }]])(
    "is refused with %j",
    async (body) => {
      const { addSite, call } = test.current;
      const id = await addSite();
      const answer = await call("DELETE", `/v2/sites/${id}`, { body });
      expect(answer.body.data.errors[0].path).toBe("/without_backup");
      expect((await call("GET", `/v2/sites/${id}`)).body.site.environments[0].is_blocked).toBe(false);
    },
  );
});

describe("a backup of a deleted environment", () => {
  /** A deleted environment with a backup, and another site with an environment. */
  async function prepare() {
    const { addBackup, addEnvironment, addSite, deleteEnvironment } = test.current;
    const siteId = await addSite();
    const { id } = await addEnvironment(siteId);
    const backup_id = await addBackup(id);
    await deleteEnvironment(id);
    const targetSiteId = await addSite();
    return { siteId, id, backup_id, targetSiteId, target: await addEnvironment(targetSiteId) };
  }

  const restoreTo = (id: string, options: { readonly body: unknown; readonly key?: string }) =>
    test.current.call("POST", `/v2/sites/environments/${id}/backups/restore`, options);

  it("can be restored to another environment, and only that one is locked", async () => {
    const { call, database, succeed } = test.current;
    const { id, backup_id, target } = await prepare();
    expect((await call("GET", `/v2/sites/environments/${id}/backups`)).status).toBe(404);
    const answer = await restoreTo(target.id, { body: { backup_id } });
    expect(answer.status).toBe(202);
    const locks = database.selectFrom("environment_locks").select("environment_id");
    const lockRows = await locks.where("operation_id", "=", answer.body.operation_id).execute();
    expect(lockRows).toEqual([{ environment_id: target.id }]);
    await succeed(answer.body.operation_id);
  });

  it("is unknown to other companies and to keys for other sites", async () => {
    const { addKey, addSiteWithEnvironment, otherCompany } = test.current;
    const { siteId, backup_id, target, targetSiteId } = await prepare();
    const theirs = await addSiteWithEnvironment(otherCompany.api_key);
    const foreign = await restoreTo(theirs.id, { body: { backup_id }, key: otherCompany.api_key });
    expect(foreign.body.data.code).toBe("unknown_backup");
    const { token } = await addKey({ scopes: [`site:${targetSiteId}`] });
    expect((await restoreTo(target.id, { body: { backup_id }, key: token })).body.data.code).toBe("unknown_backup");
    const both = await addKey({ scopes: [`site:${targetSiteId}`, `site:${siteId}`] });
    expect((await restoreTo(target.id, { body: { backup_id }, key: both.token })).status).toBe(202);
  });

  it("can be deleted by keys that may delete the environment", async () => {
    const { addKey, call, company, succeed } = test.current;
    const { siteId, backup_id } = await prepare();
    const path = `/v2/sites/environments/backups/${backup_id}`;
    const { token } = await addKey({ scopes: ["non-live"] });
    const site = await deletedSite();
    const [{ environments }] = await listed();
    const ofLive = await call("DELETE", `/v2/sites/environments/backups/${environments[0].backup_id}`, { key: token });
    expect(ofLive.body.data).toEqual({ code: "scope_missing", needs: "live" });
    const answer = await call("DELETE", path, { key: token });
    expect(answer.status).toBe(202);
    await succeed(answer.body.operation_id);
    const log = await call("GET", `/v2/company/${company.company_id}/activity-logs?site_id=${siteId}`);
    expect(log.body.company.activity_logs.items[0].descriptions[0]).toMatch(
      /^Remove the backup “Test” of “Staging .+” of “Site .+”$/,
    );
    const { token: other } = await addKey({ scopes: [`site:${siteId}`] });
    const byOther = await call("DELETE", `/v2/sites/environments/backups/${environments[1].backup_id}`, { key: other });
    expect(byOther.body.data.needs).toBe(`site:${site.id}`);
  });

  it("of a deleted site can be deleted only by users who may delete sites", async () => {
    const { addBackup, addEnvironment, addSite, call, deleteSite } = test.current;
    const id = await addSite();
    const { liveId } = await addEnvironment(id);
    const [first, second, third] = [await addBackup(liveId), await addBackup(liveId), await addBackup(liveId)];
    const remove = async (backup: number, role: Role) => {
      const { token } = await addKeyOf(test.current, role);
      return call("DELETE", `/v2/sites/environments/backups/${backup}`, { key: token });
    };
    expect((await remove(first, "developer")).status).toBe(202);
    await deleteSite(id);
    const refused = await remove(second, "developer");
    expect(refused.status).toBe(403);
    expect(refused.body.data).toEqual({ code: "scope_missing", needs: "role:admin" });
    expect((await remove(third, "admin")).status).toBe(202);
  });
});
