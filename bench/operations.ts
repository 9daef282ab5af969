/** What the engine of operations costs by itself: how soon one starts, ends, and is taken over from a killed process. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { nobody, recordActivity } from "@sitewright/server/store/company/activity.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import { migrate } from "@sitewright/server/store/migrate.ts";
import { type Notifications, openNotifications } from "@sitewright/server/store/notifications.ts";
import { type OpenDatabase, openDatabase } from "@sitewright/server/store/open.ts";
import { announceAccepted, endedChannel, insertOperation } from "@sitewright/server/store/operations.ts";
import { startPostgres } from "@sitewright/supervisor/postgres/postgres.ts";
import { atMost, type Figure } from "./report.ts";
import { median, percentile } from "./statistics.ts";

const operations = 200;
const crowd = 300;
const takeovers = 7;
const idleSeconds = 5;

/** Milliseconds of the machine's monotonic clock, which all processes share. */
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

async function startEngine(url: string, ...more: string[]): Promise<Engine> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "operationsEngine.ts"), url, ...more], {
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
      actor: nobody,
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

async function latencies(place: Place, engine: Engine): Promise<{ toFirstStep: number[]; toEnd: number[] }> {
  const toFirstStep: number[] = [];
  const toEnd: number[] = [];
  for (let count = 0; count < operations; count++) {
    const operationId = `bench:${randomUUID()}`;
    const first = once(engine.steps, `${operationId} one`);
    const ended = endOf(place.notifications, operationId);
    await submit(place.opened.database, place.companyId, operationId);
    const committed = now();
    const [at] = await first;
    toFirstStep.push(Math.max(0, at - committed));
    toEnd.push((await ended) - committed);
  }
  return { toFirstStep, toEnd };
}

/** Milliseconds until the last of a crowd that was accepted as fast as possible has ended. */
async function crowdMilliseconds({ opened: { database }, notifications, companyId }: Place): Promise<number> {
  const began = now();
  const ends: Promise<number>[] = [];
  for (let count = 0; count < crowd; count++) {
    const operationId = `bench:${randomUUID()}`;
    ends.push(endOf(notifications, operationId));
    await submit(database, companyId, operationId);
  }
  return Math.max(...(await Promise.all(ends))) - began;
}

/** From the kill of a process in the middle of a step until another process that is there already begins that step again. */
async function takeoverMilliseconds({ url, opened: { database }, companyId }: Place): Promise<number> {
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

async function transactionsPerSecond({ opened: { pool } }: Place): Promise<number> {
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

interface Place {
  readonly url: string;
  readonly opened: OpenDatabase;
  readonly notifications: Notifications;
  readonly companyId: string;
}

/** Starts its own PostgreSQL with the product's durable settings. */
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
  const place = { url: server.url, opened, notifications, companyId };

  const engine = await startEngine(server.url);
  const { toFirstStep, toEnd } = await latencies(place, engine);
  const crowdTook = await crowdMilliseconds(place);
  const idle = await transactionsPerSecond(place);
  await end(engine);
  const taken: number[] = [];
  for (let count = 0; count < takeovers; count++) taken.push(await takeoverMilliseconds(place));
  const none = Number.POSITIVE_INFINITY;
  return [
    atMost(`operation: commit → first step, p50 of ${operations}`, median(toFirstStep), none),
    atMost("– p95", percentile(toFirstStep, 0.95), none),
    atMost("operation of three empty steps: commit → seen to have ended, p50", median(toEnd), none),
    atMost("– p95", percentile(toEnd, 0.95), none),
    atMost(`${crowd} operations accepted one after the other: until the last has ended`, crowdTook, none),
    atMost(`process killed in a step → another goes on with it, median of ${takeovers}`, median(taken), none),
    {
      name: "PostgreSQL's transactions each second with nothing to do",
      measured: idle.toFixed(1),
      target: "–",
      isMet: true,
    },
  ];
}
