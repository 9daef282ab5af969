/** When scheduled backups start. Operations are really accepted; each test has its own database and sets the clock. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeScheduledBackup } from "../app/backups/scheduledBackups.ts";
import { noteBackupFailed, noteBackupMade } from "../store/backups/scheduledBackups.ts";
import { endOperation } from "../store/operations.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { type TestOperations, testOperations } from "../testing/engine.ts";
import { hour, nextBackupTime } from "./backupTimes.ts";
import { scheduleBackups } from "./scheduleBackups.ts";

const minute = 60_000;
const start = Date.now();

let own: TestDatabase;
let operations: TestOperations;
beforeEach(async () => {
  own = await createTestDatabase();
  const noSteps = { kind: "addScheduledBackup", steps: [], succeeded: async () => null, failed: async () => undefined };
  operations = await testOperations({ ...own, addSite: noSteps });
});
afterEach(async () => {
  await operations[Symbol.asyncDispose]();
  await own.drop();
});

/** Runs the reconciler once, `time` milliseconds after the start of the test. */
async function run(time: number, hours = 24): Promise<void> {
  const { database } = own;
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
  const begin = makeScheduledBackup({ database, settings, acceptOperation: operations.accept });
  await scheduleBackups({ database, hours, begin, now: () => start + time });
}

/** Absent: a company of its own. */
async function addEnvironment(companyId?: string): Promise<string> {
  const ofCompany = companyId ?? (await addCompany(own.database)).companyId;
  return (await addSite(own.database, ofCompany)).environmentId;
}

const timeOf = (id: string, after = 0, hours = 24) =>
  nextBackupTime(id, hours, new Date(start + after)).getTime() - start;

function unfinished() {
  return own.database.selectFrom("operations").selectAll().where("finished_at", "is", null).orderBy("activity_id");
}

/** Environments with a running backup, in the order in which they started. */
async function running(): Promise<(string | null)[]> {
  return (await unfinished().execute()).map((row) => row.environment_id);
}

/** Ends the running backups as the operation would; returns their environments. */
async function end(state: "succeeded" | "failed" = "succeeded", time = 0): Promise<(string | null)[]> {
  const rows = await unfinished().execute();
  for (const { id, environment_id: environmentId, input } of rows) {
    await own.database.transaction().execute(async (transaction) => {
      if (state === "succeeded") await noteBackupMade(transaction, environmentId ?? "");
      else await noteBackupFailed(transaction, environmentId ?? "", againAt(input, time));
      const ending = state === "succeeded" ? { state, result: null } : { state, publicError: "It failed." };
      await endOperation(transaction, id, ending);
    });
  }
  return rows.map((row) => row.environment_id);
}

function againAt(input: unknown, time: number): Date | null {
  const after = typeof input === "object" && input !== null && "againAfter" in input ? input.againAfter : undefined;
  return typeof after === "number" ? new Date(start + time + after) : null;
}

/** How many backups start in runs at these times, each ended before the next run. */
async function begunAt(times: readonly number[], hours = 24): Promise<number[]> {
  const counts: number[] = [];
  for (const time of times) {
    await run(time, hours);
    counts.push((await end()).length);
  }
  return counts;
}

describe("a new environment", () => {
  test("is backed up first at its next backup time, and then once per period", async () => {
    const id = await addEnvironment();
    const first = timeOf(id);
    const times = [0, first - 1, first, first + minute, first + 24 * hour - 1, first + 24 * hour];
    expect(await begunAt(times)).toEqual([0, 0, 1, 0, 0, 1]);
  });

  test("is backed up only while it is served, not while it is being added or deleted", async () => {
    const id = await addEnvironment();
    const setState = (state: "adding" | "serving" | "deleting") =>
      own.database.updateTable("environments").set({ state }).where("id", "=", id).execute();
    await setState("adding");
    expect(await begunAt([0, 48 * hour])).toEqual([0, 0]);
    await setState("serving");
    expect(await begunAt([48 * hour])).toEqual([0]);
    await setState("deleting");
    expect(await begunAt([96 * hour])).toEqual([0]);
    await setState("serving");
    expect(await begunAt([96 * hour])).toEqual([1]);
  });
});

test("a scheduled backup has no user and locks nothing", async () => {
  const id = await addEnvironment();
  await run(0);
  await run(timeOf(id));
  const [row] = await unfinished().execute();
  expect(row).toMatchObject({ kind: "addScheduledBackup", environment_id: id, state: "running" });
  expect(row?.id).toMatch(/^backups:add-scheduled-[0-9a-f-]{36}$/);
  expect(row?.input).toMatchObject({
    environment: { id },
    address: expect.stringMatching(/^http:\/\/.+:8081$/),
    isRetry: false,
  });
  expect(await own.database.selectFrom("environment_locks").selectAll().execute()).toEqual([]);
  const activity = await own.database.selectFrom("activity").selectAll().execute();
  expect(activity).toMatchObject([
    { type: "addScheduledBackup", category: "siteActions", user_id: null, api_key_id: null, is_done: false },
  ]);
});

test("an interval of 0 means no backups", async () => {
  await addEnvironment();
  await run(0, 24);
  await run(400 * hour, 0);
  expect(await running()).toEqual([]);
});

describe("after downtime", () => {
  test("a missed backup is made once, and the next one at its usual time", async () => {
    const id = await addEnvironment();
    const first = timeOf(id);
    const back = first + 10 * 24 * hour + minute;
    const next = first + 11 * 24 * hour;
    expect(await begunAt([0, back, back + minute, next - 1, next])).toEqual([0, 1, 0, 0, 1]);
  });

  test("two of a company are made at the same time, the most overdue first", async () => {
    const { companyId } = await addCompany(own.database);
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push(await addEnvironment(companyId));
    await run(0);
    const inOrder = ids.toSorted((one, other) => timeOf(one) - timeOf(other));
    const back = 240 * hour;
    await run(back);
    await run(back);
    expect(await running()).toEqual(inOrder.slice(0, 2));
    await end();
    await run(back);
    expect(await end()).toEqual(inOrder.slice(2, 4));
    await run(back);
    expect(await end()).toEqual(inOrder.slice(4));
    await run(back);
    expect(await running()).toEqual([]);
  });

  test("one more is made of a company that has none, next to another's that take long", async () => {
    const { companyId } = await addCompany(own.database);
    for (let count = 0; count < 3; count += 1) await addEnvironment(companyId);
    await run(0);
    await run(240 * hour);
    expect(await running()).toHaveLength(2);
    const others = [await addEnvironment(), await addEnvironment()];
    await run(240 * hour);
    await own.database
      .updateTable("environments")
      .set({ backup_due_at: new Date(start) })
      .where("id", "in", others)
      .execute();
    await run(240 * hour);
    const begun = await running();
    expect(begun).toHaveLength(3);
    expect(others).toContain(begun[2]);
  });

  test("several processes together make no more than that, and none twice", async () => {
    const { companyId } = await addCompany(own.database);
    for (let count = 0; count < 6; count += 1) await addEnvironment(companyId);
    await run(0);
    await Promise.all(Array.from({ length: 4 }, () => run(240 * hour)));
    expect(new Set(await running()).size).toBe(2);
    expect(await running()).toHaveLength(2);
  });
});

describe("during another operation on the environment", () => {
  const other = (environmentId: string) => ({ kind: "deleteSite", environmentId, locks: [environmentId] }) as const;

  test("the backup waits for the operation, and other backups don't wait", async () => {
    const ids = [await addEnvironment(), await addEnvironment()];
    await run(0);
    const [first = "", second = ""] = ids.toSorted((one, another) => timeOf(one) - timeOf(another));
    const blocking = await operations.submit(other(first));
    await run(240 * hour);
    expect(await running()).toEqual([first, second]);
    await own.database
      .transaction()
      .execute((transaction) => endOperation(transaction, blocking, { state: "succeeded", result: null }));
    expect(await end()).toEqual([second]);
    await run(240 * hour);
    expect(await end()).toEqual([first]);
  });

  test("a second backup is not started while the first is running", async () => {
    const id = await addEnvironment();
    await run(0);
    await run(timeOf(id));
    await run(timeOf(id) + 24 * hour);
    expect(await running()).toEqual([id]);
    await end();
    await run(timeOf(id) + 24 * hour);
    expect(await running()).toEqual([id]);
  });

  test("a backup does not make other operations wait", async () => {
    const id = await addEnvironment();
    await run(0);
    await run(timeOf(id));
    const operationId = await operations.submit(other(id));
    const row = own.database.selectFrom("operations").select("state").where("id", "=", operationId);
    expect(await row.executeTakeFirst()).toEqual({ state: "running" });
  });
});

describe("a clock", () => {
  test.each([
    ["one hour", hour],
    ["one year", 365 * 24 * hour],
    ["thirty years", 30 * 365 * 24 * hour],
  ])(
    "that is set back by %s starts nothing at once, and each environment is backed up within a day",
    async (_, back) => {
      const ids = [];
      for (let count = 0; count < 4; count += 1) ids.push(await addEnvironment());
      await run(0);
      // Each hour twice, because a run starts two at most.
      const day = Array.from({ length: 48 }, (_, at) => Math.floor(at / 2) * hour);
      await begunAt(day);
      const now = 24 * hour - back;
      expect(await begunAt([now])).toEqual([0]);
      const begun = await begunAt(day.map((time) => now + time + hour));
      expect(begun.reduce((sum, count) => sum + count)).toBe(ids.length);
    },
  );

  test("that was briefly years ahead causes one extra backup per environment", async () => {
    const id = await addEnvironment();
    const ahead = 3 * 365 * 24 * hour;
    expect(await begunAt([0, ahead, ahead + 1])).toEqual([0, 1, 0]);
    expect(await begunAt([minute, timeOf(id, minute) - 1, timeOf(id, minute)])).toEqual([0, 0, 1]);
  });

  test("follows a shorter interval at once", async () => {
    const id = await addEnvironment();
    await run(0, 168);
    const time = timeOf(id, 0, 1);
    expect(await begunAt([0, time, time + hour], 1)).toEqual([0, 1, 1]);
  });
});

describe("a failed backup", () => {
  test("is retried after an hour, three attempts in all, and then at the next backup time", async () => {
    const id = await addEnvironment();
    await run(0);
    const first = timeOf(id);
    const failures: number[] = [];
    for (let time = first; time < first + 48 * hour; time += 10 * minute) {
      await run(time);
      if ((await end("failed", time)).length > 0) failures.push((time - first) / hour);
    }
    expect(failures).toEqual([0, 1, 2, 24, 25, 26]);
  });

  test("is retried within the hour if backups are hourly", async () => {
    const id = await addEnvironment();
    await run(0, 1);
    const first = timeOf(id, 0, 1);
    const failures: number[] = [];
    for (let time = first; time < first + hour; time += minute) {
      await run(time, 1);
      if ((await end("failed", time)).length > 0) failures.push((time - first) / minute);
    }
    expect(failures).toEqual([0, 15, 30]);
  });

  test("is forgotten after a success", async () => {
    const id = await addEnvironment();
    await run(0);
    const first = timeOf(id);
    await run(first);
    await end("failed", first);
    expect(await begunAt([first + hour - 1])).toEqual([0]);
    await run(first + hour);
    expect((await unfinished().executeTakeFirst())?.input).toMatchObject({ isRetry: true });
    await end();
    expect(await begunAt([first + 2 * hour])).toEqual([0]);
    const row = own.database.selectFrom("environments").select("backup_failures").where("id", "=", id);
    expect(await row.executeTakeFirst()).toEqual({ backup_failures: 0 });
  });
});
