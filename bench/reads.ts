/**
 * Reads of the API, compared with a bare Fastify route that returns the same JSON, in alternating rounds. They are compared by
 * processor time, of the control process and PostgreSQL together, because rates depend on the client and on other work of the
 * machine.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setInterval } from "node:timers/promises";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { createFolder, type Installation, startHere } from "@sitewright/e2e/installation.ts";
import { descendants } from "@sitewright/e2e/processes.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import { readRun } from "@sitewright/supervisor/records.ts";
import pg from "pg";
import type { Figure } from "./report.ts";
import {
  child,
  messageFrom,
  type ServerProcess,
  secondsBetween,
  spentByProcesses,
  startNode,
} from "./serverProcess.ts";
import { median } from "./statistics.ts";

const rounds = 5;
const roundMilliseconds = 3_000;
const changesPerSecond = 100;

type Headers = Readonly<Record<string, string>>;

/** A request, and the status that all of its responses must have. */
interface Read {
  readonly name: string;
  readonly path: string;
  readonly headers: Headers;
  readonly status: number;
  /** Smallest share of the bare route's responses per second of processor time. */
  readonly minShare: number;
  /** Runs during the measurement of ours, until it is disposed of. */
  readonly meanwhile?: () => Promise<AsyncDisposable>;
}

interface Server {
  readonly port: number;
  /** All processes that work on a response. */
  readonly pids: () => Promise<readonly number[]>;
}

interface Rate {
  /** Microseconds of processor time for each response. */
  readonly cost: number;
  readonly perSecond: number;
}

type LoadOptions = Omit<Read, "minShare" | "name">;

interface Load {
  readonly statuses: Readonly<Record<string, number>>;
  readonly errors: number;
}

function isLoad(message: unknown): message is Load {
  return typeof message === "object" && message !== null && "statuses" in message && "errors" in message;
}

/** Other responses, such as those until a rate limit is reached. */
const maxOthers = 0.01;

async function load({ port, pids }: Server, { path, headers, status, meanwhile }: LoadOptions): Promise<Rate> {
  await using _ = await meanwhile?.();
  const before = spentByProcesses(await pids());
  const parameters = [String(port), String(roundMilliseconds), path, JSON.stringify(headers)];
  const message = await messageFrom(child("readsClient.ts", parameters));
  const seconds = secondsBetween(before, spentByProcesses(await pids()));
  if (!isLoad(message)) throw new Error("The client sent no result");
  const { [status]: responses = 0, ...others } = message.statuses;
  const otherResponses = Object.values(others).reduce((sum, count) => sum + count, 0);
  if (message.errors > 0 || !(otherResponses <= maxOthers * responses))
    throw new Error(`${path}: ${JSON.stringify(message)}`);
  return { cost: (seconds / responses) * 1e6, perSecond: responses / (roundMilliseconds / 1_000) };
}

const medians = (rates: readonly Rate[]): Rate => ({
  cost: median(rates.map(({ cost }) => cost)),
  perSecond: median(rates.map(({ perSecond }) => perSecond)),
});

/** The first round warms up and is not counted. */
async function compare(ours: Server, bare: Server, read: Read): Promise<Figure> {
  const rates: { readonly ours: Rate; readonly bare: Rate }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const both = {
      ours: await load(ours, read),
      bare: await load(bare, { path: "/v2/bare", headers: {}, status: 200 }),
    };
    if (round > 0) rates.push(both);
  }
  const [own, other] = [medians(rates.map(({ ours }) => ours)), medians(rates.map(({ bare }) => bare))];
  const [share, shareOfRate] = [other.cost / own.cost, own.perSecond / other.perSecond];
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  return {
    name: `${read.name}: processor time of a bare Fastify route as a share of ours`,
    measured: `${percent(share)} (${own.cost.toFixed(0)} µs); by rate ${percent(shareOfRate)} (${own.perSecond.toFixed(0)}/s)`,
    target: `≥ ${percent(read.minShare)}`,
    isMet: share >= read.minShare,
    reference: `bare: ${other.cost.toFixed(0)} µs, ${other.perSecond.toFixed(0)}/s`,
  };
}

async function readOnce(port: number, path: string, headers: Headers) {
  const sent = request({ host: "127.0.0.1", port, path, headers }).end();
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
    sent.once("error", reject).once("response", async (response) => {
      const body = (await buffer(response)).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
  });
}

async function startBare(folder: string, body: string, schema: object): Promise<ServerProcess> {
  const file = join(folder, "bare.json");
  await writeFile(file, JSON.stringify({ body: JSON.parse(body), schema }));
  return startNode("readsBare.ts", [file]);
}

/** The control process and PostgreSQL with the processes of its connections. */
async function processesOf({ supervisor }: Installation): Promise<readonly number[]> {
  const all = await descendants(supervisor.pid ?? 0);
  return all.filter(({ command }) => /control|postgres/.test(command)).map(({ id }) => id);
}

/** Commits changes of rows that the reads don't show. */
async function changeRows(databaseUrl: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const stopping = new AbortController();
  const changes = (async () => {
    for await (const _ of setInterval(1_000 / changesPerSecond, undefined, { signal: stopping.signal })) {
      await client.query("update companies set name = name");
    }
  })().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await changes;
      await client.end();
    },
  };
}

/** Starts separate installations with their own data: one without rate limits, and one with a small limit. */
export async function measureReads(log: (line: string) => void): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "sw-reads-"));
  const figures: Figure[] = [];
  const measure = async (installation: Installation, bareServer: Server, reads: readonly Read[]) => {
    const port = Number(new URL(installation.firstRun.api_url).port);
    for (const read of reads) {
      log(`  ${read.name} …`);
      figures.push(await compare({ port, pids: () => processesOf(installation) }, bareServer, read));
    }
  };
  let bare: ServerProcess | undefined;
  try {
    await withInstallation({ SITEWRIGHT_RATE_LIMIT_PER_MINUTE: "10000000" }, async (installation) => {
      const { api_url, api_key } = installation.firstRun;
      const site = await createSite(installation, { display_name: "Read" });
      const headers = { authorization: `Bearer ${api_key}` };
      const path = `/v2/sites/${site.id}`;
      const { body, headers: received } = await readOnce(Number(new URL(api_url).port), path, headers);
      bare = await startBare(folder, body, endpoints.getSite.responses[200].body);
      const { port, pid } = bare;
      const databaseUrl = readRun(installation.data)?.database_url ?? "";
      const one = { path, headers, status: 200, minShare: 0.5 };
      await measure(installation, { port, pids: async () => [pid] }, [
        { name: "one site", ...one },
        {
          name: `one site, next to ${changesPerSecond} changes a second`,
          ...one,
          meanwhile: () => changeRows(databaseUrl),
        },
        { name: "validate", path: "/v2/validate", headers, status: 200, minShare: 0.7 },
        {
          name: "304",
          path,
          headers: { ...headers, "if-none-match": String(received.etag) },
          status: 304,
          minShare: 0.7,
        },
      ]);
    });
    await withInstallation({ SITEWRIGHT_RATE_LIMIT_PER_MINUTE: "60" }, async (installation) => {
      if (bare === undefined) return;
      const { port, pid } = bare;
      const headers = { authorization: `Bearer ${installation.firstRun.api_key}` };
      await measure(installation, { port, pids: async () => [pid] }, [
        { name: "429", path: "/v2/validate", headers, status: 429, minShare: 0.8 },
      ]);
    });
  } finally {
    await bare?.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return figures;
}

async function withInstallation(
  settings: Readonly<Record<string, string>>,
  work: (installation: Installation) => Promise<void>,
): Promise<void> {
  const home = await createFolder();
  const installation = await startHere(home.folder, settings);
  try {
    await work(installation);
  } finally {
    await installation.stop();
    await home.remove();
  }
}
