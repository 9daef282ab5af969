/** When a backup is proven, and which. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTestRestore } from "../app/backups/scheduledTestRestores.ts";
import { beginBackup, finishBackup } from "../store/backups/backups.ts";
import { beginTestRestoreReading, noteFailedTestRestore, noteTestRestore } from "../store/backups/testRestores.ts";
import { endOperation } from "../store/operations.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { type TestOperations, testOperations } from "../testing/engine.ts";
import { proveBackups } from "./proveBackups.ts";

const world = useTestDatabase();
const noSteps = { kind: "addSite", steps: [], succeeded: async () => null, failed: async () => undefined };
const settings = {
  host: "127.0.0.1",
  siteSuffix: "localhost",
  edgePort: 8081,
  endedPhpVersions: [],
  edgeTlsPort: 8443,
  dnsNames: [],
  edgeAddresses: [],
};

let operations: TestOperations;
beforeAll(async () => {
  operations = await testOperations({ url: world.url, database: world.database, addSite: noSteps });
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

/** A finished backup, made so many minutes ago. */
async function addBackup({ environmentId }: Environment, minutesAgo = 60): Promise<number> {
  const facts = { name: "Daily", note: null, type: "manual", address: "http://x.localhost" } as const;
  const wish = { environmentId, operationId: randomUUID(), expiresAt: new Date(Date.now() + 1e9), ...facts };
  const backup = await beginBackup(world.database, wish);
  if (backup === null) throw new Error("There is no environment");
  await finishBackup(world.database, backup, { manifest: Buffer.alloc(0), files: 0, bytes: 0, addedBytes: 0 });
  await world.database
    .updateTable("backups")
    .set({ created_at: new Date(Date.now() - minutesAgo * 60_000) })
    .where("id", "=", backup.id)
    .execute();
  return backup.id;
}

/** Looks once whether it is time. */
async function look(perDay = 24): Promise<void> {
  const prove = makeTestRestore({ database: world.database, settings, acceptOperation: operations.accept });
  await proveBackups({ database: world.database, perDay, prove });
}

function proofs() {
  return world.database.selectFrom("operations").selectAll().where("kind", "=", "proveBackup").orderBy("created_at");
}

const backupIdIn = (input: unknown) => Object(input).backupId;

/** Ends what is under way and lets so many hours pass: every moment that was noted lies so far back. */
async function passHours(hours: number): Promise<void> {
  const { database } = world;
  for (const { id } of await proofs().where("state", "=", "running").execute()) {
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

/** Which backup is proven next, an hour later; null: none. */
async function next(): Promise<number | null> {
  await passHours(1);
  const before = (await proofs().execute()).length;
  await look();
  const all = await proofs().execute();
  return all.length === before ? null : backupIdIn(all.at(-1)?.input);
}

async function noted(backupId: number, error: string | null): Promise<void> {
  const reading = await beginTestRestoreReading(world.database, backupId);
  await world.database
    .transaction()
    .execute((transaction) =>
      error === null
        ? noteTestRestore(transaction, backupId, reading)
        : noteFailedTestRestore(transaction, backupId, error),
    );
}

describe("a proof", () => {
  test("is nobody's operation, names what it proves, and blocks nothing", async () => {
    const site = await environment();
    const backupId = await addBackup(site);
    await look();
    const [row] = await proofs().execute();
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

  test("happens in an environment of its own", async () => {
    const site = await environment();
    await addBackup(site);
    await look();
    const [row] = await proofs().execute();
    const { scratch, environment: real } = Object(row?.input);
    expect(scratch.id).not.toBe(real.id);
    expect(scratch.number).toBeGreaterThan(real.number);
  });
});

describe("it is time", () => {
  test("once in each part of the day, whatever was missed before", async () => {
    for (let count = 0; count < 4; count += 1) await addBackup(await environment());
    for (const [hours, expected] of [
      [0, 1],
      [24, 2],
      [240, 3],
    ] as const) {
      await passHours(hours);
      for (let looks = 0; looks < 3; looks += 1) {
        await look(1);
        await passHours(0);
      }
      expect(await proofs().execute()).toHaveLength(expected);
    }
  });

  test.each([
    [1, 24],
    [24, 1],
    [1_440, 1 / 60],
  ])("%i times a day, which is every %f hours", async (perDay, hours) => {
    for (let count = 0; count < 3; count += 1) await addBackup(await environment());
    for (const expected of [1, 2, 3]) {
      await look(perDay);
      expect(await proofs().execute()).toHaveLength(expected);
      await passHours(hours);
    }
  });

  test("not while one is under way, however long", async () => {
    await addBackup(await environment());
    await addBackup(await environment());
    await look();
    await world.database.updateTable("operations").set({ created_at: sql<Date>`now() - interval '5 hours'` }).execute();
    await look();
    expect(await proofs().execute()).toHaveLength(1);
  });

  test("also where the clock was put back by years, and then no more often than ever", async () => {
    for (let count = 0; count < 3; count += 1) await addBackup(await environment());
    await look();
    await passHours(-20_000);
    for (let looks = 0; looks < 3; looks += 1) {
      await look(1);
      await passHours(0);
    }
    expect(await proofs().execute()).toHaveLength(2);
  });
});

describe("next is", () => {
  test("the environment whose last proof is longest ago, and first who never had one", async () => {
    const [first, second] = [await environment(), await environment()];
    const [one, two] = [await addBackup(first), await addBackup(second)];
    expect(await next()).toBe(one);
    const three = await addBackup(await environment());
    expect([await next(), await next(), await next(), await next()]).toEqual([two, three, one, two]);
  });

  test("the newest backup that is finished", async () => {
    const site = await environment();
    await addBackup(site);
    const newest = await addBackup(site);
    const unfinished = await addBackup(site);
    await world.database.updateTable("backups").set({ manifest: null }).where("id", "=", unfinished).execute();
    expect(await next()).toBe(newest);
  });

  test.each([
    ["was proven", null],
    ["failed its proof", "The table wp_posts is gone."],
  ])("not one that %s, until a week later or until there is a newer one", async (_, error) => {
    const site = await environment();
    const backupId = await addBackup(site);
    expect(await next()).toBe(backupId);
    await noted(backupId, error);
    expect(await next()).toBeNull();
    await passHours(6 * 24);
    expect(await next()).toBeNull();
    await passHours(24);
    expect(await next()).toBe(backupId);
    await noted(backupId, error);
    expect(await next()).toBeNull();
    const newer = await addBackup(site);
    expect(await next()).toBe(newer);
  });

  test("one again of which nothing was found out, after the others", async () => {
    const [site, other] = [await environment(), await environment()];
    const [one, two] = [await addBackup(site), await addBackup(other)];
    expect([await next(), await next(), await next()]).toEqual([one, two, one]);
  });

  test("one that was proven in a future from which the clock was put back", async () => {
    const site = await environment();
    const backupId = await addBackup(site);
    await noted(backupId, null);
    await passHours(-20_000);
    expect(await next()).toBe(backupId);
  });

  test("nobody whose backup was made a moment ago, who is being changed, or who is not served", async () => {
    // Five minutes ago, when the hour has passed.
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

test("the day on which everything was read does not move back", async () => {
  const backupId = await addBackup(await environment());
  const rows = () => world.database.selectFrom("backups").selectAll().where("id", "=", backupId);
  const future = new Date(Date.now() + 1e9);
  await noted(backupId, "It is broken.");
  expect(await rows().executeTakeFirst()).toMatchObject({ last_proven_restore: null, proof_error: "It is broken." });
  const before = (await rows().executeTakeFirstOrThrow()).verified_at ?? future;
  await noted(backupId, null);
  const after = await rows().executeTakeFirstOrThrow();
  expect(after).toMatchObject({ last_proven_restore: expect.any(Date), proof_error: null });
  expect(after.verified_at?.getTime()).toBeGreaterThan(before.getTime());
  await world.database.updateTable("backups").set({ verified_at: future }).execute();
  await noted(backupId, null);
  expect((await rows().executeTakeFirstOrThrow()).verified_at).toEqual(future);
});
