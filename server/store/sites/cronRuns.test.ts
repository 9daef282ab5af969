import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import type { Environments, Operations } from "../database.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import { beginCronRun, endCronRun, findCronRun, findForCron, listForCron } from "./cronRuns.ts";

const world = useTestDatabase();

async function addEnvironment() {
  const { companyId } = await addCompany(world.database);
  const { environmentId: id, id: siteId, name } = await addSite(world.database, companyId);
  return { id, siteId, companyId, name };
}

async function listed(id: string) {
  const ids = (await listForCron(world.database)).map((each) => each.id).filter((each) => each === id);
  return (await findForCron(world.database, ids))[0];
}

async function change(
  id: string,
  values: Partial<Pick<Environments, "state">> & { is_frozen?: boolean; awaits_rebuild?: boolean },
) {
  await world.database.updateTable("environments").set(values).where("id", "=", id).execute();
}

async function lockFor(
  kind: Operations["kind"],
  { id, siteId, companyId }: Awaited<ReturnType<typeof addEnvironment>>,
) {
  const { database } = world;
  const row = { company_id: companyId, site_id: siteId };
  const activity = await database
    .insertInto("activity")
    .values({ ...row, category: "siteActions", type: "pushEnvironment", parameters: "{}" })
    .returning("id")
    .executeTakeFirstOrThrow();
  const operationId = `x-${randomUUID()}`;
  await database
    .insertInto("operations")
    .values({
      ...row,
      id: operationId,
      kind,
      environment_id: id,
      activity_id: activity.id,
      state: "running",
      steps_total: 1,
      input: "{}",
      secret: null,
      reference_id: randomUUID(),
    })
    .execute();
  await database.insertInto("environment_locks").values({ environment_id: id, operation_id: operationId }).execute();
}

const at = (seconds: number) => new Date(Date.parse("2026-11-22T12:00:00Z") + seconds * 1_000);

test("a served environment is listed with its host, at first without a run", async () => {
  const { id, name } = await addEnvironment();
  expect(await listed(id)).toMatchObject({ id, host: `${name}.localhost`, lastRun: null });
  expect(await findCronRun(world.database, id)).toBeNull();
});

describe("no run starts in an environment that", () => {
  test.each<[string, Parameters<typeof change>[1]]>([
    ["is frozen", { is_frozen: true }],
    ["is being added", { state: "adding" }],
    ["is being deleted", { state: "deleting" }],
    ["is being restored", { state: "restoring" }],
    ["waits to be rebuilt", { awaits_rebuild: true }],
  ])("%s", async (_, values) => {
    const { id } = await addEnvironment();
    const before = await listed(id);
    await change(id, values);
    expect(await listed(id)).toBeUndefined();
    expect(await beginCronRun(world.database, before ?? { id, lastRun: null }, at(0))).toBe(false);
  });

  test.each<[Operations["kind"], boolean]>([
    ["pushEnvironment", false],
    ["restoreBackup", false],
    ["modifyPhpVersion", false],
    ["changeRuntime", false],
    ["deleteSite", false],
    ["addScheduledBackup", true],
    ["proveBackup", true],
  ])("is locked by %s: may run is %s", async (kind, mayRun) => {
    const environment = await addEnvironment();
    await lockFor(kind, environment);
    expect((await listed(environment.id)) !== undefined).toBe(mayRun);
    expect(await beginCronRun(world.database, { id: environment.id, lastRun: null }, at(0))).toBe(mayRun);
  });

  test("is gone", async () => {
    expect(await beginCronRun(world.database, { id: randomUUID(), lastRun: null }, at(0))).toBe(false);
    await endCronRun(world.database, randomUUID(), { now: at(0), error: null, isFailure: false });
  });
});

test("only one of several processes starts the same run", async () => {
  const { id } = await addEnvironment();
  const attempts = (lastRun: Awaited<ReturnType<typeof findCronRun>>, now: Date) =>
    Promise.all([1, 2, 3].map(() => beginCronRun(world.database, { id, lastRun }, now)));
  expect((await attempts(null, at(0))).filter(Boolean)).toHaveLength(1);
  const lastRun = await findCronRun(world.database, id);
  expect(lastRun).toEqual({ beganAt: at(0), endedAt: null, error: null, failures: 0 });
  expect((await attempts(lastRun, at(60))).filter(Boolean)).toHaveLength(1);
});

test("failures are counted until a run succeeds; the error stays until the next run has ended", async () => {
  const { id } = await addEnvironment();
  const { database } = world;
  const run = async (second: number, error: string | null, isFailure: boolean) => {
    await beginCronRun(database, { id, lastRun: await findCronRun(database, id) }, at(second));
    const during = await findCronRun(database, id);
    await endCronRun(database, id, { now: at(second + 1), error, isFailure });
    return { during, after: await findCronRun(database, id) };
  };
  expect((await run(0, "PHP was ended.", true)).after).toMatchObject({
    failures: 1,
    error: "PHP was ended.",
    endedAt: at(1),
  });
  const second = await run(60, "Again.", true);
  expect(second.during).toMatchObject({ failures: 1, error: "PHP was ended.", endedAt: null });
  expect(second.after).toMatchObject({ failures: 2, error: "Again." });
  expect((await run(120, "hook: Oh.", false)).after).toMatchObject({ failures: 0, error: "hook: Oh." });
  expect((await run(180, null, false)).after).toMatchObject({ failures: 0, error: null });
});

test("a run is deleted with its environment", async () => {
  const { id, siteId } = await addEnvironment();
  await beginCronRun(world.database, { id, lastRun: null }, at(0));
  await world.database.deleteFrom("sites").where("id", "=", siteId).execute();
  expect(await findCronRun(world.database, id)).toBeNull();
});
