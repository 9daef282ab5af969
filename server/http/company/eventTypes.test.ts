/** Which changes become events. */
import { eventTypes } from "@sitewright/contract/company/events.ts";
import { removeDomains } from "@sitewright/server/store/domains/domains.ts";
import { addOwnDomain } from "@sitewright/server/store/testing/rows.ts";
import { putPackages } from "@sitewright/server/testing/packages.ts";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

/** The types and data of the events about a site, or about none, in the order in which they were added. */
async function eventsOf(siteId: string | null) {
  const query = test.current.database.selectFrom("events").select(["type", "data"]).orderBy("id");
  return siteId === null ? query.where("site_id", "is", null).execute() : query.where("site_id", "=", siteId).execute();
}

/** The types of the events that `change` adds to those about the site. */
async function typesAdded(siteId: string, change: () => Promise<unknown>): Promise<readonly string[]> {
  const before = (await eventsOf(siteId)).length;
  await change();
  return (await eventsOf(siteId)).slice(before).map(({ type }) => type);
}

const update = (table: "domains" | "backups" | "packages" | "environments", id: string, values: string) =>
  sql`update ${sql.table(table)} set ${sql.raw(values)} where ${sql.ref(table === "packages" ? "environment_id" : "id")} = ${id}`.execute(
    test.current.database,
  );

it("every type of the contract is sent when it should be, once", async () => {
  const { addBackup, addSiteWithEnvironment, call, database, deleteEnvironment, deleteSite, fail } = test.current;
  const { siteId, id: environmentId, liveId } = await addSiteWithEnvironment();
  const seen = (await eventsOf(siteId)).map(({ type }) => type);
  const started = ["activity.recorded", "operation.started"];
  expect(seen).toEqual([
    ...started,
    ...["site.created", "environment.created", "operation.succeeded"],
    ...started,
    ...["environment.created", "operation.succeeded"],
  ]);

  let operationId = "";
  const restart = async () => {
    const body = { environment_id: liveId };
    operationId = (await call("POST", "/v2/sites/tools/restart-php", { body })).body.operation_id;
  };
  expect(await typesAdded(siteId, restart)).toEqual(started);
  const step = () => sql`update operations set step = 'restart' where id = ${operationId}`.execute(database);
  expect(await typesAdded(siteId, step)).toEqual(["operation.progress"]);
  expect(await typesAdded(siteId, step)).toEqual([]);
  expect(await typesAdded(siteId, () => fail(operationId, "No."))).toEqual(["operation.failed"]);

  const unseen = "disk_bytes = 5, packages_read_at = now(), backup_due_at = now(), php_run = php_run + 1";
  expect(await typesAdded(siteId, () => update("environments", liveId, unseen))).toEqual([]);
  for (const shown of ["php_version = '8.4'", "is_xml_rpc_on = true", "redirect_list = gen_random_uuid()"]) {
    expect(await typesAdded(siteId, () => update("environments", liveId, shown))).toEqual(["environment.changed"]);
  }

  let domainId = "";
  const addDomain = async () => {
    domainId = await addOwnDomain(database, liveId, { isActive: false });
  };
  expect(await typesAdded(siteId, addDomain)).toEqual(["domain.added"]);
  expect(await typesAdded(siteId, () => update("domains", domainId, "checked_at = now()"))).toEqual([]);
  expect(await typesAdded(siteId, () => update("domains", domainId, "verified_at = now()"))).toEqual([
    "domain.verified",
  ]);
  expect(await typesAdded(siteId, () => update("domains", domainId, "is_active = true"))).toEqual(["domain.changed"]);
  const removeDomain = () => database.transaction().execute((transaction) => removeDomains(transaction, [domainId]));
  expect(await typesAdded(siteId, removeDomain)).toEqual(["domain.deleted"]);

  let backupId = "";
  const backUp = async () => {
    backupId = String(await addBackup(environmentId));
  };
  expect(await typesAdded(siteId, backUp)).toEqual(["backup.created"]);
  expect(await typesAdded(siteId, () => update("backups", backupId, "verified_at = now()"))).toEqual([]);
  const proven = "last_proof = now(), last_proven_restore = now()";
  expect(await typesAdded(siteId, () => update("backups", backupId, proven))).toEqual(["backup.verified"]);
  expect(await typesAdded(siteId, () => update("backups", backupId, "damage = 'lost'"))).toEqual(["backup.damaged"]);
  const forget = () => sql`delete from backups where id = ${backupId}::integer`.execute(database);
  expect(await typesAdded(siteId, forget)).toEqual(["backup.deleted"]);

  await putPackages(database, liveId, [{ name: "shop" }]);
  expect(await typesAdded(siteId, () => update("packages", liveId, "is_vulnerable = true"))).toEqual([
    "vulnerability.found",
  ]);
  expect(await typesAdded(siteId, () => update("packages", liveId, "is_vulnerable = true"))).toEqual([]);

  expect(await typesAdded(siteId, () => deleteEnvironment(environmentId))).toEqual([
    ...started,
    ...["backup.created", "environment.deleted", "operation.succeeded"],
  ]);
  const atTheEnd = await typesAdded(siteId, () => deleteSite(siteId));
  expect(atTheEnd.filter((type) => type.endsWith(".deleted"))).toEqual(["site.deleted", "environment.deleted"]);
  const all = new Set((await eventsOf(siteId)).map(({ type }) => type));
  expect([...all].toSorted()).toEqual(Object.keys(eventTypes).toSorted());
});

it("an operation that was refused has begun and failed, and one that waits says so", async () => {
  const { addSite, call, database } = test.current;
  const siteId = await addSite();
  const { id } = await database
    .selectFrom("environments")
    .select("id")
    .where("site_id", "=", siteId)
    .executeTakeFirstOrThrow();
  const restart = (whenBusy: string) =>
    call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: id }, headers: { "when-busy": whenBusy } });
  await restart("fail");
  const statesAdded = async (whenBusy: string) => {
    const before = (await eventsOf(siteId)).length;
    await restart(whenBusy);
    const added = (await eventsOf(siteId)).slice(before);
    return added.map(({ type, data }) => [type, Object(data).state]).filter(([type]) => type !== "activity.recorded");
  };
  const begun = ["operation.started", "running"];
  expect(await statesAdded("fail")).toEqual([begun, ["operation.failed", "failed"]]);
  expect(await statesAdded("queue")).toEqual([begun, ["operation.progress", "waiting"]]);
  expect(await statesAdded("refuse")).toEqual([]);
});

it("a site that could not be created never existed", async () => {
  const { call, company, database, fail } = test.current;
  const body = { company: company.company_id, display_name: "Never", region: "europe-west3" };
  const { operation_id } = (await call("POST", "/v2/sites/plain", { body })).body;
  const query = database.selectFrom("operations").select("site_id").where("id", "=", operation_id);
  const { site_id: siteId } = await query.executeTakeFirstOrThrow();
  await database.deleteFrom("sites").where("id", "=", siteId).execute();
  await fail(operation_id, "The site did not answer.");
  expect((await eventsOf(siteId)).map(({ type }) => type)).toEqual([
    ...["activity.recorded", "operation.started", "operation.failed"],
  ]);
});

it("what concerns no site has an event, too", async () => {
  const { addKey } = test.current;
  await addKey({ name: "New" });
  const last = (await eventsOf(null)).at(-1);
  expect(last).toMatchObject({ type: "activity.recorded", data: { type: "createApiKey", category: "userManagement" } });
});
