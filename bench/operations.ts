/**
 * Measures the operations engine alone: how soon an operation starts, ends, and is taken over from a killed process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { recordActivity, systemActor } from "@sitewright/server/store/company/activity.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import { migrate } from "@sitewright/server/store/migrate.ts";
import { type Notifications, openNotifications } from "@sitewright/server/store/notifications.ts";
import { type OpenDatabase, openDatabase } from "@sitewright/server/store/open.ts";
import { announceAccepted, endedChannel, insertOperation } from "@sitewright/server/store/operations.ts";
import { startPostgres } from "@sitewright/supervisor/postgres/postgres.ts";
import { atMost, type Figure } from "./report.ts";
import { median, percentile } from "./statistics.ts";

const operations = 200;
const batchSize = 300;
const takeovers = 7;
const idleSeconds = 5;

/** Milliseconds of the monotonic clock, which all processes share. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

interface Reached {
  readonly operationId: string;
  readonly step: string;
  readonly at: string;
}

interface Engine {
  readonly process: ChildProcess;
  /** Emits `<operation id> <step>` with the time in milliseconds. */
  readonly steps: EventEmitter;
}

async function startEngine(url: string, ...options: string[]): Promise<Engine> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "operationsEngine.ts"), url, ...options], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const steps = new EventEmitter();
  const ready = once(steps, "ready");
  child.on("message", (message: "ready" | Reached) => {
    if (message === "ready") steps.emit("ready");
    else steps.emit(`${message.operationId} ${message.step}`, Number(message.at) / 1e6);
  });
  await ready;
  return { process: child, steps };
}

async function end(engine: Engine): Promise<void> {
  const ended = once(engine.process, "exit");
  engine.process.kill("SIGKILL");
  await ended;
}

async function submit(database: Database, companyId: string, operationId = `bench:${randomUUID()}`): Promise<string> {
  await database.transaction().execute(async (transaction) => {
    const activityId = await recordActivity(transaction, {
      companyId,
      siteId: null,
      category: "siteActions",
      type: "addSite",
      parameters: {},
      actor: systemActor,
    });
    await insertOperation(transaction, {
      id: operationId,
      kind: "addSite",
      companyId,
      siteId: null,
      environmentId: null,
      activityId,
      state: "running",
      stepsTotal: 3,
      input: {},
      secret: null,
      referenceId: randomUUID(),
    });
    await announceAccepted(transaction, operationId);
  });
  return operationId;
}

function endOf(notifications: Notifications, operationId: string): Promise<number> {
  return new Promise((resolve) => {
    const forget = notifications.on(endedChannel, (id) => {
      if (id !== operationId) return;
      forget();
      resolve(now());
    });
  });
}

async function latencies(context: Context, engine: Engine): Promise<{ toFirstStep: number[]; toEnd: number[] }> {
  const toFirstStep: number[] = [];
  const toEnd: number[] = [];
  for (let count = 0; count < operations; count++) {
    const operationId = `bench:${randomUUID()}`;
    const first = once(engine.steps, `${operationId} one`);
    const ended = endOf(context.notifications, operationId);
    await submit(context.opened.database, context.companyId, operationId);
    const committed = now();
    const [at] = await first;
    toFirstStep.push(Math.max(0, at - committed));
    toEnd.push((await ended) - committed);
  }
  return { toFirstStep, toEnd };
}

/** Milliseconds until all operations of a batch, submitted as fast as possible, have ended. */
async function batchMilliseconds({ opened: { database }, notifications, companyId }: Context): Promise<number> {
  const startedAt = now();
  const ends: Promise<number>[] = [];
  for (let count = 0; count < batchSize; count++) {
    const operationId = `bench:${randomUUID()}`;
    ends.push(endOf(notifications, operationId));
    await submit(database, companyId, operationId);
  }
  return Math.max(...(await Promise.all(ends))) - startedAt;
}

/** From killing a process during a step until another running process starts that step again. */
async function takeoverMilliseconds({ url, opened: { database }, companyId }: Context): Promise<number> {
  const first = await startEngine(url, "hang");
  const operationId = `bench:${randomUUID()}`;
  const reached = once(first.steps, `${operationId} two`);
  await submit(database, companyId, operationId);
  await reached;
  const second = await startEngine(url);
  const again = once(second.steps, `${operationId} two`);
  const killed = now();
  await end(first);
  const [at] = await again;
  await end(second);
  return at - killed;
}

async function transactionsPerSecond({ opened: { pool } }: Context): Promise<number> {
  const count = async () => {
    const { rows } = await pool.query<{ count: number }>(
      "select sum(xact_commit)::float8 as count from pg_stat_database",
    );
    return rows[0]?.count ?? 0;
  };
  const before = await count();
  await delay(idleSeconds * 1_000);
  return ((await count()) - before) / idleSeconds;
}

interface Context {
  readonly url: string;
  readonly opened: OpenDatabase;
  readonly notifications: Notifications;
  readonly companyId: string;
}

/** Starts a separate PostgreSQL with Sitewright's settings. */
export async function measureOperations(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "swbench-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const server = await startPostgres({ dataDirectory: join(folder, "data"), runDirectory: join(folder, "run") });
  stack.defer(() => server.stop());
  const opened = openDatabase(server.url);
  stack.defer(() => opened.close());
  await migrate(opened.pool);
  const companyId = randomUUID();
  await opened.database.insertInto("companies").values({ id: companyId, name: "Bench" }).execute();
  const notifications = await openNotifications({ url: server.url, channels: [endedChannel] });
  stack.defer(() => notifications.close());
  const context = { url: server.url, opened, notifications, companyId };

  const engine = await startEngine(server.url);
  const { toFirstStep, toEnd } = await latencies(context, engine);
  const batch = await batchMilliseconds(context);
  const idle = await transactionsPerSecond(context);
  await end(engine);
  const takeoverTimes: number[] = [];
  for (let count = 0; count < takeovers; count++) takeoverTimes.push(await takeoverMilliseconds(context));
  const none = Number.POSITIVE_INFINITY;
  return [
    atMost(`operation: commit → first step, p50 of ${operations}`, median(toFirstStep), none),
    atMost("– p95", percentile(toFirstStep, 0.95), none),
    atMost("operation of three empty steps: commit → end notification, p50", median(toEnd), none),
    atMost("– p95", percentile(toEnd, 0.95), none),
    atMost(`${batchSize} operations submitted one after the other: until all have ended`, batch, none),
    atMost(
      `process killed during a step → step restarted elsewhere, median of ${takeovers}`,
      median(takeoverTimes),
      none,
    ),
    {
      name: "PostgreSQL transactions per second when idle",
      measured: idle.toFixed(1),
      target: "–",
      isMet: true,
    },
  ];
}
