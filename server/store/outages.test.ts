import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, isCommit, startDatabaseProxy } from "@sitewright/server/testing/databaseProxy.ts";
import { type RunningPostgres, startPostgres } from "@sitewright/supervisor/postgres/postgres.ts";
import { type RawBuilder, sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "./database.ts";
import { type OpenDatabase, openDatabase, openPool } from "./open.ts";
import { DatabaseUnavailable, OutcomeUnknown } from "./outages.ts";
import { tryConnection } from "./silence.ts";
import { askForSnapshot } from "./snapshotQuestion.ts";
import { runTransaction } from "./transactions.ts";

let folder: string;
let postgres: RunningPostgres;
let opened: OpenDatabase;

async function start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  postgres = await startPostgres({ dataDirectory: join(folder, "data"), runDirectory: join(folder, "run"), settings });
}

async function restart(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  await postgres.stop();
  await start(settings);
}

async function run<T>(statement: RawBuilder<T>, database: Database = opened.database): Promise<readonly T[]> {
  return (await statement.execute(database)).rows;
}

const listNotes = () => run(sql<{ text: string }>`select text from notes order by text`);

/** Resolves when this many connections run a statement that contains the text. */
async function untilRunning(text: string, count: number): Promise<void> {
  const running = () =>
    run(sql`select 1 from pg_stat_activity where query like ${`%${text}%`} and pid <> pg_backend_pid()`);
  await expect.poll(async () => (await running()).length).toBe(count);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sw-outages-"));
  await start();
});
beforeEach(async () => {
  opened = openDatabase(postgres.url);
  await run(sql`create table notes (text text)`);
});
afterEach(async () => {
  await run(sql`drop table notes`);
  await opened.close();
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true });
});

test("of two transactions that wait for each other, one runs again", async () => {
  await run(sql`insert into notes values ('a'), ('b')`);
  let runs = 0;
  const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const isEachInside = Promise.all(arrivals.map(({ promise }) => promise));
  const change = (order: readonly string[], arrival: PromiseWithResolvers<void> | undefined) =>
    runTransaction(opened.database, async (transaction) => {
      runs += 1;
      for (const text of order) {
        await run(sql`update notes set text = text where text = ${text}`, transaction);
        arrival?.resolve();
        await isEachInside;
      }
      await run(sql`insert into notes values (${order.join()})`, transaction);
    });
  await Promise.all([change(["a", "b"], arrivals[0]), change(["b", "a"], arrivals[1])]);
  expect(runs).toBe(3);
  expect(await listNotes()).toEqual(["a", "a,b", "b", "b,a"].map((text) => ({ text })));
});

describe("while PostgreSQL restarts", () => {
  test("reads and changes that have not begun wait for it", async () => {
    await postgres.stop();
    const work = [
      ...Array.from({ length: 50 }, () => opened.pool.query("select 1")),
      ...Array.from({ length: 50 }, () => listNotes()),
      run(sql`insert into notes values ('alone')`),
      opened.database
        .transaction()
        .execute((transaction) => run(sql`insert into notes values ('inside')`, transaction)),
    ];
    await start();
    await Promise.all(work);
    expect(await listNotes()).toEqual([{ text: "alone" }, { text: "inside" }]);
  });

  test.each(["stop", "kill"] as const)("reads that have begun are repeated after a %s", async (how) => {
    const reads = [
      opened.pool.query("select pg_sleep(0.5), 'read' as text"),
      opened.pool.query({ name: "slow", text: "select pg_sleep(0.5), $1::text as text", values: ["read"] }),
      run(sql<{ text: string }>`select pg_sleep(0.5), 'read' as text`).then((rows) => ({ rows })),
    ];
    await untilRunning("pg_sleep(0.5)", 3);
    await postgres[how]();
    await postgres.exited;
    await start();
    for (const { rows } of await Promise.all(reads)) expect(rows[0]?.text).toBe("read");
  });

  test("queries wait if too many connections wait to be accepted", async () => {
    const used = await opened.pool.connect();
    process.kill(postgres.pid, "SIGSTOP");
    const socket = join(new URL(postgres.url).searchParams.get("host") ?? "", ".s.PGSQL.5432");
    const waiting = await fillQueue(socket);
    const read = Promise.allSettled([opened.pool.query("select 'late' as text")]);
    const refused = await tryConnection({ connectionString: postgres.url });
    for (const client of waiting) client.destroy();
    process.kill(postgres.pid, "SIGCONT");
    used.release();
    expect(refused).toMatchObject({ code: "EAGAIN" });
    expect(await read).toMatchObject([{ value: { rows: [{ text: "late" }] } }]);
  });

  test("a change by itself that has begun is not repeated", async () => {
    const change = run(sql`insert into notes select 'slow' from pg_sleep(0.5)`);
    const outcome = Promise.allSettled([change]);
    await untilRunning("insert into notes select", 1);
    await restart();
    expect(await outcome).toMatchObject([{ status: "rejected", reason: { code: "57P01" } }]);
    expect(await listNotes()).toEqual([]);
  });

  test("a transaction whose COMMIT was not sent runs again", async () => {
    const isInside = Promise.withResolvers<void>();
    const isRestarted = Promise.withResolvers<void>();
    let runs = 0;
    const result = runTransaction(opened.database, async (transaction) => {
      runs += 1;
      const text = `run ${runs}`;
      await run(sql`insert into notes values (${text})`, transaction);
      isInside.resolve();
      await isRestarted.promise;
      return run(sql<{ text: string }>`select text from notes`, transaction);
    });
    await isInside.promise;
    await restart();
    isRestarted.resolve();
    expect(await result).toEqual([{ text: "run 2" }]);
    expect(await listNotes()).toEqual([{ text: "run 2" }]);
  });

  test("a transaction whose COMMIT failed runs again", async () => {
    await run(sql`create or replace function end_connection() returns trigger language plpgsql as $$
      begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`);
    await run(sql`create constraint trigger at_commit after insert on notes deferrable initially deferred
      for each row when (new.text = 'run 1') execute function end_connection()`);
    let runs = 0;
    await runTransaction(opened.database, async (transaction) => {
      runs += 1;
      await run(sql`insert into notes values (${`run ${runs}`})`, transaction);
    });
    expect(await listNotes()).toEqual([{ text: "run 2" }]);
  });

  test("a transaction that was committed does not run again, although the answer was lost", async () => {
    await using proxy = await startDatabaseProxy(postgres.url);
    await using through = openImpatient(proxy.url);
    let runs = 0;
    const text = await runTransaction(through.database, async (transaction) => {
      runs += 1;
      await run(sql`insert into notes values (${`run ${runs}`})`, transaction);
      void proxy.failAt(isCommit, "lose the answer");
      return "result";
    });
    expect([text, proxy.hasFailed()]).toEqual(["result", true]);
    expect(await listNotes()).toEqual([{ text: "run 1" }]);
  });

  test("a restart does not hide the outcome of a COMMIT", async () => {
    await using proxy = await startDatabaseProxy(postgres.url);
    await using through = closing(openDatabase(proxy.url));
    const result = runTransaction(through.database, async (transaction) => {
      await run(sql`insert into notes values ('once')`, transaction);
      void proxy.failAt(isCommit, "lose the answer and hang");
    });
    await expect.poll(listNotes).toEqual([{ text: "once" }]);
    await restart();
    proxy.resume();
    await result;
    expect(await listNotes()).toEqual([{ text: "once" }]);
  });

  test("the outcome of a COMMIT is unknown if PostgreSQL does not come back", async () => {
    await using proxy = await startDatabaseProxy(postgres.url);
    await using through = openImpatient(proxy.url);
    const outcome = runTransaction(through.database, async (transaction) => {
      await run(sql`insert into notes values ('committed?')`, transaction);
      void proxy.failAt(isCommit, "lose the answer and hang");
    });
    await expect(outcome).rejects.toBeInstanceOf(OutcomeUnknown);
    proxy.resume();
    expect(await listNotes()).toEqual([{ text: "committed?" }]);
  });

  test("a change by itself may be made if PostgreSQL hangs for too long, so it does not fail as unavailable", async () => {
    await using proxy = await startDatabaseProxy(postgres.url);
    await using through = openImpatient(proxy.url);
    await through.pool.query("select 1");
    void proxy.failAt((message) => message.includes("insert into"), "hang");
    const change = run(sql`insert into notes values ('late')`, through.database);
    await expect(change).rejects.toThrow("Connection terminated unexpectedly");
    proxy.resume();
    await expect.poll(listNotes).toEqual([{ text: "late" }]);
  });

  test("a question for the snapshot fails as unavailable if PostgreSQL hangs for too long", async () => {
    await using proxy = await startDatabaseProxy(postgres.url);
    await using through = openImpatient(proxy.url);
    const client = await through.pool.connect();
    void proxy.failAt(after(0), "hang");
    await expect(askForSnapshot(client)).rejects.toBeInstanceOf(DatabaseUnavailable);
    client.release(true);
  });

  test("other errors of a transaction are not repeated", async () => {
    let runs = 0;
    const outcome = runTransaction(opened.database, async (transaction) => {
      runs += 1;
      await run(sql`select 1 / 0`, transaction);
    });
    await expect(outcome).rejects.toMatchObject({ code: "22012" });
    expect(runs).toBe(1);
  });
});

describe("when PostgreSQL loses transactions in a crash", () => {
  const addNote = (text: string, database?: Database) => run(sql`insert into notes values (${text})`, database);
  const lastRecovery = () => run(sql`select pg_stat_get_bgwriter_stat_reset_time()::text as time`);

  // Commits are written to disk late, so a crash loses them.
  beforeEach(async () => {
    await restart({ synchronous_commit: "off", wal_writer_delay: "10s", autovacuum: "off" });
  });
  afterEach(() => restart());

  /** Kills one of its processes, so all others start again. */
  async function crash(): Promise<void> {
    const before = await lastRecovery();
    const [backend] = await run(sql<{ pid: number }>`select pg_backend_pid() as pid`);
    process.kill(backend?.pid ?? 0, "SIGKILL");
    await expect.poll(lastRecovery).not.toEqual(before);
  }

  /** Adds a note in a transaction, and loses it after COMMIT. `afterCrash` happens before PostgreSQL is asked for the outcome. */
  async function addLostNote(afterCrash: () => Promise<unknown>): Promise<number> {
    await using proxy = await startDatabaseProxy(postgres.url);
    await using through = closing(openDatabase(proxy.url));
    let runs = 0;
    const outcome = Promise.allSettled([
      runTransaction(through.database, async (transaction) => {
        runs += 1;
        await addNote(`run ${runs}`, transaction);
        if (runs === 1) void proxy.failAt(isCommit, "lose the answer and hang");
      }),
    ]);
    await expect.poll(listNotes).toEqual([{ text: "run 1" }]);
    await crash();
    expect(await listNotes()).toEqual([]);
    await afterCrash();
    proxy.resume();
    for (const result of await outcome) if (result.status === "rejected") throw result.reason;
    return runs;
  }

  test("a lost transaction runs again", async () => {
    expect(await addLostNote(async () => undefined)).toBe(2);
    expect(await listNotes()).toEqual([{ text: "run 2" }]);
  });

  test("the outcome is unknown if a committed transaction has the same id", async () => {
    await expect(addLostNote(() => addNote("other"))).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(await listNotes()).toEqual([{ text: "other" }]);
  });
});

describe("an outage that lasts", () => {
  test("fails queries after their time, as unavailable", async () => {
    await using impatient = openImpatient();
    await impatient.pool.query("select 1");
    await postgres.stop();
    await expect(impatient.pool.query("select 1")).rejects.toBeInstanceOf(DatabaseUnavailable);
    const change = impatient.database.transaction().execute(async () => undefined);
    await expect(change).rejects.toBeInstanceOf(DatabaseUnavailable);
    await start();
    expect((await impatient.pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("fails queries at once when the process stops", async () => {
    const { rows } = await opened.pool.query("select 1");
    expect(rows).toHaveLength(1);
    await postgres.stop();
    const waiting = Promise.allSettled([opened.pool.query("select 1"), listNotes()]);
    opened.stopWaiting();
    for (const { reason } of (await waiting).filter((result) => result.status === "rejected")) {
      expect(reason).toBeInstanceOf(DatabaseUnavailable);
    }
    await expect(opened.pool.query("select 1")).rejects.toBeInstanceOf(DatabaseUnavailable);
    await start();
  });

  test("fails at once if there was no connection before, because the address is probably wrong", async () => {
    const url = postgres.url;
    await postgres.stop();
    const other = openDatabase(url);
    await expect(other.pool.query("select 1")).rejects.toMatchObject({ syscall: "connect" });
    await other.close();
    await start();
  });
});

describe("a slow PostgreSQL", () => {
  test("makes queries wait, and fails those that get no connection in their time", async () => {
    await using impatient = openImpatient();
    const slow = impatient.pool.query("select pg_sleep(1), 'late' as text");
    await untilRunning("pg_sleep(1)", 1);
    await expect(impatient.pool.query("select 1")).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect((await slow).rows[0]?.text).toBe("late");
  });

  test("is not asked again and again while a long statement runs", async () => {
    await using proxy = await startDatabaseProxy(postgres.url);
    await using impatient = openImpatient(proxy.url);
    await impatient.pool.query("select pg_sleep(2)");
    expect(proxy.opened()).toBeLessThanOrEqual(2);
  });

  test("answers if it refuses more connections, so long statements go on", async () => {
    await run(sql`create role limited login connection limit 1`);
    const url = new URL(postgres.url);
    url.username = "limited";
    await using impatient = openImpatient(url.href);
    const slow = impatient.pool.query("select pg_sleep(1.5), 'late' as text");
    expect((await slow).rows[0]?.text).toBe("late");
  });
});

test("connections without traffic are checked by the system", async () => {
  const pool = openPool("postgresql://127.0.0.1:1/none");
  expect(pool.options).toMatchObject({ keepAlive: true, keepAliveInitialDelayMillis: 10_000 });
  await pool.end();
});

/** Connects until the system accepts no more. */
async function fillQueue(path: string): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  for (;;) {
    const socket = connect(path);
    const error = await once(socket, "connect").catch((problem: unknown) => problem);
    if (error instanceof Error) return sockets;
    sockets.push(socket);
  }
}

const closing = (database: OpenDatabase): OpenDatabase & AsyncDisposable => ({
  ...database,
  [Symbol.asyncDispose]: database.close,
});

const openImpatient = (url = postgres.url) => closing(openDatabase(url, { waitMilliseconds: 300, connections: 1 }));
