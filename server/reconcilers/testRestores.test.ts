/** When test restores start, and of which backup. */
import { randomUUID } from "node:crypto";
import { makeTestRestore } from "@sitewright/server/app/backups/scheduledTestRestores.ts";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { beginBackup, finishBackup } from "../store/backups/backups.ts";
import { beginTestRestoreReading, noteFailedTestRestore, noteTestRestore } from "../store/backups/testRestores.ts";
import { endOperation } from "../store/operations.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { type TestOperations, testOperations } from "../testing/engine.ts";
import { startTestRestores } from "./testRestores.ts";

const world = useTestDatabase();
const noSteps = { kind: "addSite", steps: [], succeeded: async () => null, failed: async () => undefined };
const settings = {
  host: "127.0.0.1",
  siteSuffix: "localhost",
  apiName: null,
  apiHost: "127.0.0.1",
  publicPort: 8081,
  endedPhpVersions: [],
  publicTlsPort: 8443,
  dnsNames: [],
  edgeAddresses: [],
};

let operations: TestOperations;
beforeAll(async () => {
  operations = await testOperations({ url: world.url, database: world.database, pool: world.pool, addSite: noSteps });
});
afterAll(() => operations[Symbol.asyncDispose]());
beforeEach(async () => {
  await sql`truncate companies cascade`.execute(world.database);
});

async function environment() {
  const { companyId } = await addCompany(world.database);
  return addSite(world.database, companyId);
}
type Environment = Awaited<ReturnType<typeof environment>>;

/** Adds a finished backup with this age. */
async function addBackup({ environmentId }: Environment, minutesAgo = 60): Promise<number> {
  const facts = { name: "Daily", note: null, type: "manual", address: "http://x.localhost" } as const;
  const row = { environmentId, operationId: randomUUID(), expiresAt: new Date(Date.now() + 1e9), ...facts };
  const backup = await beginBackup(world.database, row);
  if (backup === null) throw new Error("There is no environment");
  await finishBackup(world.database, backup, { manifest: Buffer.alloc(0), files: 0, bytes: 0, addedBytes: 0 });
  await world.database
    .updateTable("backups")
    .set({ created_at: new Date(Date.now() - minutesAgo * 60_000) })
    .where("id", "=", backup.id)
    .execute();
  return backup.id;
}

/** Runs the reconciler once. */
async function run(perDay = 24): Promise<void> {
  const start = makeTestRestore({ database: world.database, settings, acceptOperation: operations.accept });
  await startTestRestores({ database: world.database, perDay, start });
}

function testRestores() {
  return world.database.selectFrom("operations").selectAll().where("kind", "=", "proveBackup").orderBy("created_at");
}

const backupIdIn = (input: unknown) => Object(input).backupId;

/** Ends running test restores and lets `hours` pass, by moving all stored times back. */
async function passHours(hours: number): Promise<void> {
  const { database } = world;
  for (const { id } of await testRestores().where("state", "=", "running").execute()) {
    await database
      .transaction()
      .execute((transaction) => endOperation(transaction, id, { state: "succeeded", result: null }));
  }
  const earlier = (column: string) => sql<Date>`${sql.ref(column)} - make_interval(secs => ${hours * 3_600})`;
  await database
    .updateTable("operations")
    .set({ created_at: earlier("created_at") })
    .execute();
  await database
    .updateTable("environments")
    .set({ last_proof_began: earlier("last_proof_began") })
    .execute();
  await database
    .updateTable("backups")
    .set({ last_proof: earlier("last_proof"), created_at: earlier("created_at") })
    .execute();
}

/** Lets an hour pass; returns the backup whose test restore starts then, or null. */
async function next(): Promise<number | null> {
  await passHours(1);
  const before = (await testRestores().execute()).length;
  await run();
  const all = await testRestores().execute();
  return all.length === before ? null : backupIdIn(all.at(-1)?.input);
}

async function recordResult(backupId: number, error: string | null): Promise<void> {
  const reading = await beginTestRestoreReading(world.database, backupId);
  await world.database
    .transaction()
    .execute((transaction) =>
      error === null
        ? noteTestRestore(transaction, backupId, reading)
        : noteFailedTestRestore(transaction, backupId, error),
    );
}

describe("a test restore", () => {
  test("is an operation without a user that names the backup and locks nothing", async () => {
    const site = await environment();
    const backupId = await addBackup(site);
    await run();
    const [row] = await testRestores().execute();
    expect(row).toMatchObject({
      id: expect.stringMatching(/^backups:prove-[0-9a-f-]{36}$/),
      state: "running",
      company_id: site.companyId,
      site_id: site.id,
      environment_id: site.environmentId,
      input: {
        backupId,
        environment: { id: site.environmentId },
        address: `http://${site.name}.localhost:8081`,
      },
    });
    const activity = await world.database.selectFrom("activity").selectAll().executeTakeFirstOrThrow();
    const parameters = { backupName: "Daily", environmentName: "Live", siteName: site.displayName };
    expect(activity).toMatchObject({ type: "proveBackup", category: "siteActions", user_id: null, parameters });
    expect(await world.database.selectFrom("environment_locks").selectAll().execute()).toEqual([]);
  });

  test("uses a scratch environment", async () => {
    const site = await environment();
    await addBackup(site);
    await run();
    const [row] = await testRestores().execute();
    const { scratch, environment: real } = Object(row?.input);
    expect(scratch.id).not.toBe(real.id);
    expect(scratch.number).toBeGreaterThan(real.number);
  });
});

describe("a test restore is due", () => {
  test("once in each part of the day, however many were missed", async () => {
    for (let count = 0; count < 4; count += 1) await addBackup(await environment());
    for (const [hours, expected] of [
      [0, 1],
      [24, 2],
      [240, 3],
    ] as const) {
      await passHours(hours);
      for (let runs = 0; runs < 3; runs += 1) {
        await run(1);
        await passHours(0);
      }
      expect(await testRestores().execute()).toHaveLength(expected);
    }
  });

  test.each([
    [1, 24],
    [24, 1],
    [1_440, 1 / 60],
  ])("%i times a day, which is every %f hours", async (perDay, hours) => {
    for (let count = 0; count < 3; count += 1) await addBackup(await environment());
    for (const expected of [1, 2, 3]) {
      await run(perDay);
      expect(await testRestores().execute()).toHaveLength(expected);
      await passHours(hours);
    }
  });

  test("not while another one is running, however long", async () => {
    await addBackup(await environment());
    await addBackup(await environment());
    await run();
    await world.database.updateTable("operations").set({ created_at: sql<Date>`now() - interval '5 hours'` }).execute();
    await run();
    expect(await testRestores().execute()).toHaveLength(1);
  });

  test("also if the clock was set back by years, and then no more often than usual", async () => {
    for (let count = 0; count < 3; count += 1) await addBackup(await environment());
    await run();
    await passHours(-20_000);
    for (let runs = 0; runs < 3; runs += 1) {
      await run(1);
      await passHours(0);
    }
    expect(await testRestores().execute()).toHaveLength(2);
  });
});

describe("the next one is of", () => {
  test("the environment whose last test restore is longest ago, starting with those that never had one", async () => {
    const [first, second] = [await environment(), await environment()];
    const [one, two] = [await addBackup(first), await addBackup(second)];
    expect(await next()).toBe(one);
    const three = await addBackup(await environment());
    expect([await next(), await next(), await next(), await next()]).toEqual([two, three, one, two]);
  });

  test("the newest finished backup", async () => {
    const site = await environment();
    await addBackup(site);
    const newest = await addBackup(site);
    const unfinished = await addBackup(site);
    await world.database.updateTable("backups").set({ manifest: null }).where("id", "=", unfinished).execute();
    expect(await next()).toBe(newest);
  });

  test.each([
    ["passed", null],
    ["failed", "The table wp_posts is gone."],
  ])("no backup whose test restore %s, until a week later or until there is a newer one", async (_, error) => {
    const site = await environment();
    const backupId = await addBackup(site);
    expect(await next()).toBe(backupId);
    await recordResult(backupId, error);
    expect(await next()).toBeNull();
    await passHours(6 * 24);
    expect(await next()).toBeNull();
    await passHours(24);
    expect(await next()).toBe(backupId);
    await recordResult(backupId, error);
    expect(await next()).toBeNull();
    const newer = await addBackup(site);
    expect(await next()).toBe(newer);
  });

  test("a backup whose test restore had no result, again, after the others", async () => {
    const [site, other] = [await environment(), await environment()];
    const [one, two] = [await addBackup(site), await addBackup(other)];
    expect([await next(), await next(), await next()]).toEqual([one, two, one]);
  });

  test("a backup that was tested in the future, if the clock was set back", async () => {
    const site = await environment();
    const backupId = await addBackup(site);
    await recordResult(backupId, null);
    await passHours(-20_000);
    expect(await next()).toBe(backupId);
  });

  test("no environment whose backup is new, that is being changed, or that is not served", async () => {
    // Five minutes old after `next` has let an hour pass.
    await addBackup(await environment(), -55);
    const busy = await environment();
    await addBackup(busy);
    await operations.submit({ companyId: busy.companyId, locks: [busy.environmentId] });
    const deleting = await environment();
    await addBackup(deleting);
    await world.database
      .updateTable("environments")
      .set({ state: "deleting" })
      .where("id", "=", deleting.environmentId)
      .execute();
    await environment();
    expect(await next()).toBeNull();
  });
});

test("the verification time does not move back", async () => {
  const backupId = await addBackup(await environment());
  const rows = () => world.database.selectFrom("backups").selectAll().where("id", "=", backupId);
  const future = new Date(Date.now() + 1e9);
  await recordResult(backupId, "It is broken.");
  expect(await rows().executeTakeFirst()).toMatchObject({ last_proven_restore: null, proof_error: "It is broken." });
  const before = (await rows().executeTakeFirstOrThrow()).verified_at ?? future;
  await recordResult(backupId, null);
  const after = await rows().executeTakeFirstOrThrow();
  expect(after).toMatchObject({ last_proven_restore: expect.any(Date), proof_error: null });
  expect(after.verified_at?.getTime()).toBeGreaterThan(before.getTime());
  await world.database.updateTable("backups").set({ verified_at: future }).execute();
  await recordResult(backupId, null);
  expect((await rows().executeTakeFirstOrThrow()).verified_at).toEqual(future);
});
