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
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { createFolder, type Installation, startHere } from "@sitewright/e2e/installation.ts";
import { descendants } from "@sitewright/e2e/processes.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import type { Figure } from "./report.ts";
import { child, messageFrom, processorSeconds, type ServerProcess, startNode } from "./serverProcess.ts";
import { median } from "./statistics.ts";

const rounds = 5;
const roundMilliseconds = 3_000;

type Headers = Readonly<Record<string, string>>;

/** A request, and the status that all of its responses must have. */
interface Read {
  readonly name: string;
  readonly path: string;
  readonly headers: Headers;
  readonly status: number;
  /** Smallest share of the bare route's responses per second of processor time. */
  readonly minShare: number;
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

interface Load {
  readonly statuses: Readonly<Record<string, number>>;
  readonly errors: number;
}

function isLoad(message: unknown): message is Load {
  return typeof message === "object" && message !== null && "statuses" in message && "errors" in message;
}

async function load({ port, pids }: Server, { path, headers, status }: Omit<Read, "minShare" | "name">): Promise<Rate> {
  const ids = await pids();
  const spent = () => ids.reduce((sum, id) => sum + processorSeconds(id), 0);
  const before = spent();
  const parameters = [String(port), String(roundMilliseconds), path, JSON.stringify(headers)];
  const message = await messageFrom(child("readsClient.ts", parameters));
  const seconds = spent() - before;
  if (!isLoad(message)) throw new Error("The client sent no result");
  const { [status]: responses = 0, ...others } = message.statuses;
  if (message.errors > 0 || Object.keys(others).length > 0) throw new Error(`${path}: ${JSON.stringify(message)}`);
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

/** Starts separate installations with their own data: one without rate limits, and one with a small limit. */
export async function measureReads(log: (line: string) => void): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "sw-reads-"));
  const figures: Figure[] = [];
  try {
    await withInstallation({ SITEWRIGHT_RATE_LIMIT_PER_MINUTE: "10000000" }, async (installation) => {
      const { api_url, api_key } = installation.firstRun;
      const port = Number(new URL(api_url).port);
      const site = await createSite(installation, { display_name: "Read" });
      const ours = { port, pids: () => processesOf(installation) };
      const headers = { authorization: `Bearer ${api_key}` };
      const path = `/v2/sites/${site.id}`;
      const { body, headers: received } = await readOnce(port, path, headers);
      const bare = await startBare(folder, body, endpoints.getSite.responses[200].body);
      const bareServer = { port: bare.port, pids: async () => [bare.pid] };
      const etag = String(received.etag ?? "");
      const reads: readonly Read[] = [
        { name: "one site", path, headers, status: 200, minShare: 0.5 },
        { name: "validate", path: "/v2/validate", headers, status: 200, minShare: 0.7 },
        ...(etag === ""
          ? []
          : [{ name: "304", path, headers: { ...headers, "if-none-match": etag }, status: 304, minShare: 0.7 }]),
      ];
      try {
        for (const read of reads) {
          log(`  ${read.name} …`);
          figures.push(await compare(ours, bareServer, read));
        }
      } finally {
        await bare.stop();
      }
    });
  } finally {
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
