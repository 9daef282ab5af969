/**
 * Long polling: thousands of clients wait for one operation. Measures their memory in the control process, how soon all of them get
 * a change, what they cost the database, and another client's reads next to them.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createFolder, type Installation, startHere } from "@sitewright/e2e/installation.ts";
import { descendants } from "@sitewright/e2e/processes.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import { recordActivity, systemActor } from "@sitewright/server/store/company/activity.ts";
import { type OpenDatabase, openDatabase } from "@sitewright/server/store/open.ts";
import { holdRunnerLock } from "@sitewright/server/store/operationRuns.ts";
import { endOperation, insertOperation } from "@sitewright/server/store/operations.ts";
import { startPostgres } from "@sitewright/supervisor/postgres/postgres.ts";
import { untilIdle } from "./machine.ts";
import { atMost, type Figure } from "./report.ts";
import { child } from "./serverProcess.ts";
import { percentile } from "./statistics.ts";

const clients = 5_000;
const maxBytesPerClient = 20_000;
const maxMillisecondsToAll = 200;
/** Between the neighbour's reads. */
const readInterval = 5;
const windowMilliseconds = 8_000;
/** The control process releases the memory of its start after ten seconds. */
const settleMilliseconds = 12_000;

/** Milliseconds of the monotonic clock, which all processes share. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

interface Answers {
  readonly statuses: Readonly<Record<string, number>>;
  readonly last: number;
}

function isAnswers(message: unknown): message is Answers {
  return typeof message === "object" && message !== null && "statuses" in message && "last" in message;
}

/** Resident memory, in bytes. */
function memoryOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}

async function controlOf({ supervisor }: Installation): Promise<number> {
  const all = await descendants(supervisor.pid ?? 0);
  const control = all.find(({ command }) => /control/.test(command));
  if (control === undefined) throw new Error("There is no control process");
  return control.id;
}

/** An operation of a process that does nothing: it runs until it is ended here. */
async function addOperation({ database }: OpenDatabase, companyId: string, runner: string): Promise<string> {
  const id = `bench:${randomUUID()}`;
  await database.transaction().execute(async (transaction) => {
    const actor = systemActor;
    const entry = { companyId, siteId: null, category: "siteActions", type: "addSite", parameters: {}, actor } as const;
    const activityId = await recordActivity(transaction, entry);
    const target = { companyId, siteId: null, environmentId: null };
    const facts = { kind: "addSite", state: "waiting", stepsTotal: 1, input: {}, secret: null } as const;
    await insertOperation(transaction, { id, activityId, referenceId: randomUUID(), ...target, ...facts });
    await transaction.updateTable("operations").set({ state: "running", runner }).where("id", "=", id).execute();
  });
  return id;
}

/** Reads at a steady pace, from one connection, until `stop`. Returns the durations in milliseconds. */
function readSteadily(url: string, key: string): { stop(): Promise<number[]> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const durations: number[] = [];
  let isStopped = false;
  const read = async () => {
    const sent = request(url, { agent, headers: { authorization: `Bearer ${key}` } }).end();
    const [response] = await once(sent, "response");
    response.resume();
    await once(response, "end");
    if (response.statusCode !== 200) throw new Error(`A read was answered with ${response.statusCode}`);
  };
  const reading = (async () => {
    for (let next = now(); !isStopped; next = Math.max(next + readInterval, now())) {
      await delay(Math.max(0, next - now()));
      // From when it should have begun: a slow response delays the next read.
      await read();
      durations.push(now() - next);
    }
    agent.destroy();
  })();
  return {
    stop: async () => {
      isStopped = true;
      await reading;
      return durations;
    },
  };
}

async function readFor(url: string, key: string, milliseconds: number): Promise<number[]> {
  const reading = readSteadily(url, key);
  await delay(milliseconds);
  return reading.stop();
}

interface Waiting {
  readonly answers: Promise<Answers>;
}

interface Target {
  readonly port: number;
  readonly path: string;
  readonly key: string;
}

/** Resolves when all clients have sent their request and the control process has worked off the last ones. */
async function startWaiting({ port, path, key }: Target): Promise<Waiting> {
  const parameters = [String(port), String(clients), path, JSON.stringify({ authorization: `Bearer ${key}` })];
  const client = child("waitsClient.ts", parameters);
  await once(client, "message");
  const answers = once(client, "message").then(([message]) => {
    client.kill();
    if (!isAnswers(message)) throw new Error("The clients sent no result");
    return message;
  });
  await untilIdle();
  return { answers };
}

function check({ statuses }: Answers, status: number): void {
  if (statuses[status] !== clients) throw new Error(`Expected ${clients} times ${status}: ${JSON.stringify(statuses)}`);
}

async function transactions({ pool }: OpenDatabase): Promise<number> {
  const { rows } = await pool.query(
    "select (xact_commit + xact_rollback)::int as count from pg_stat_database where datname = current_database()",
  );
  return rows[0].count;
}

async function measure(installation: Installation, opened: OpenDatabase, runner: string): Promise<Figure[]> {
  const { api_url, api_key, company_id } = installation.firstRun;
  const port = Number(new URL(api_url).port);
  const site = await createSite(installation, { display_name: "Waits" });
  const siteUrl = `${api_url}/sites/${site.id}`;
  const control = await controlOf(installation);
  await delay(settleMilliseconds);
  await untilIdle();
  await readFor(siteUrl, api_key, 2_000);
  const alone = await readFor(siteUrl, api_key, windowMilliseconds);

  const before = memoryOf(control);
  const id = await addOperation(opened, company_id, runner);
  const target = { port, path: `/v2/operations/${id}?wait=30`, key: api_key };
  const waiting = await startWaiting(target);
  const perClient = (memoryOf(control) - before) / clients;
  const reading = readSteadily(siteUrl, api_key);
  await delay(windowMilliseconds);
  const changedAt = await opened.database.transaction().execute(async (transaction) => {
    await endOperation(transaction, id, { state: "succeeded", result: null });
    // COMMIT is next.
    return now();
  });
  const answers = await waiting.answers;
  const beside = await reading.stop();
  check(answers, 200);
  const toAll = answers.last - changedAt;

  const quiet = await addOperation(opened, company_id, runner);
  const countBefore = await transactions(opened);
  const inVain = await startWaiting({ port, path: `/v2/operations/${quiet}?wait=10`, key: api_key });
  check(await inVain.answers, 202);
  // PostgreSQL's processes report their counts after a second.
  await delay(2_000);
  const statements = (await transactions(opened)) - countBefore;
  return [
    {
      name: `memory of the control process for each of ${clients} waiting clients`,
      measured: `${(perClient / 1_000).toFixed(1)} KB`,
      target: `≤ ${maxBytesPerClient / 1_000} KB`,
      isMet: perClient <= maxBytesPerClient,
    },
    atMost(`a change reaches all ${clients} waiting clients`, toAll, maxMillisecondsToAll),
    atMost(
      "p99 of another client's reads next to them, also while they are answered",
      percentile(beside, 0.99),
      2 * percentile(alone, 0.99),
      `alone: ${percentile(alone, 0.99).toFixed(1)} ms; slowest ${Math.max(...beside).toFixed(1)} ms, alone ${Math.max(...alone).toFixed(1)} ms`,
    ),
    {
      name: `database transactions while ${clients} clients wait 10 s in vain, with those of all other work`,
      measured: String(statements),
      target: `≤ ${clients / 5}`,
      isMet: statements <= clients / 5,
    },
  ];
}

/** Starts an installation with its own data and database, without rate limits. */
export async function measureWaits(): Promise<Figure[]> {
  const home = await createFolder();
  const postgres = await startPostgres({
    dataDirectory: join(home.folder, "postgres"),
    runDirectory: join(home.folder, "run"),
  });
  const opened = openDatabase(postgres.url);
  const runner = randomUUID();
  try {
    const installation = await startHere(home.folder, {
      DATABASE_URL: postgres.url,
      SITEWRIGHT_RATE_LIMIT_PER_MINUTE: "10000000",
    });
    const lock = await holdRunnerLock(postgres.url, runner);
    try {
      return await measure(installation, opened, runner);
    } finally {
      await lock.release();
      await installation.stop();
    }
  } finally {
    await opened.close();
    await postgres.stop();
    await home.remove();
  }
}
