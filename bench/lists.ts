/**
 * Long lists: 10,000 sites with two environments each, and their 30,000 domains, in a separate installation. Their state is
 * `deleting`, so that they are listed, and the rest of the installation ignores them.
 */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { createFolder, type Installation, startHere } from "@sitewright/e2e/installation.ts";
import { descendants, find } from "@sitewright/e2e/processes.ts";
import { addManySites } from "@sitewright/server/store/testing/manySites.ts";
import { readRun } from "@sitewright/supervisor/records.ts";
import pg from "pg";
import { measureConsolePages } from "./consolePages.ts";
import { atMost, type Figure, megabytes } from "./report.ts";
import { child, messageFrom, secondsBetween, spentByProcesses } from "./serverProcess.ts";
import { median } from "./statistics.ts";

const sites = 10_000;
const rounds = 11;
const stalledClients = 20;
const settings = { SITEWRIGHT_RATE_LIMIT_PER_MINUTE: "10000000" };

interface Response {
  readonly status: number;
  readonly first: number;
  readonly total: number;
  readonly bytes: number;
}

function isMessage(message: unknown): message is { readonly responses: readonly Response[] } {
  return typeof message === "object" && message !== null && "responses" in message;
}

/** Bytes of memory that the process uses. */
function memoryOf(pid: number): number {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Notes the most memory that the process uses while `work` runs. */
async function withPeak<T>(pid: number, work: () => Promise<T>): Promise<{ readonly value: T; readonly peak: number }> {
  let peak = memoryOf(pid);
  const timer = setInterval(() => {
    peak = Math.max(peak, memoryOf(pid));
  }, 5);
  try {
    return { value: await work(), peak };
  } finally {
    clearInterval(timer);
  }
}

interface Target {
  readonly port: number;
  readonly control: number;
  readonly spent: () => Promise<ReadonlyMap<number, number>>;
  readonly headers: Readonly<Record<string, string>>;
}

async function read({ port, headers }: Target, path: string, count: number): Promise<readonly Response[]> {
  const message = await messageFrom(
    child("listsClient.ts", [String(port), String(count), path, JSON.stringify(headers)]),
  );
  if (!isMessage(message)) throw new Error("The client sent no result");
  return message.responses;
}

/** MB/s. */
const minRate = 50;

async function measureList(target: Target, name: string, path: string): Promise<Figure[]> {
  const { control } = target;
  // As many, so that the heap has its usual size.
  await read(target, path, rounds);
  const before = memoryOf(control);
  const start = await target.spent();
  const { value: responses, peak } = await withPeak(control, () => read(target, path, rounds));
  const seconds = secondsBetween(start, await target.spent()) / rounds;
  const rates = responses.map(({ bytes, total }) => bytes / 1e3 / total);
  const rate = median(rates);
  const size = megabytes(responses[0]?.bytes ?? 0);
  // The young generation of the heap alone grows to some fifty megabytes, whatever is sent.
  const growth = Math.max(0, peak - before);
  return [
    atMost(`${name}: first byte, median of ${rounds}`, median(responses.map(({ first }) => first)), 50),
    {
      name: `${name}: MB/s, median of ${rounds}`,
      measured: `${rate.toFixed(0)} MB/s (${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)}; ${size})`,
      target: `≥ ${minRate} MB/s`,
      isMet: rate >= minRate,
      reference: `${(seconds * 1_000).toFixed(0)} ms of processor time for each list`,
    },
    {
      name: `${name}: growth of the control process while it sends ${rounds}`,
      measured: `${megabytes(growth)} (of ${megabytes(before)})`,
      target: "≤ 64 MB",
      isMet: growth <= 64e6,
    },
  ];
}

/** Clients that request the list and read nothing, after as many that have read all of it at the same time. */
async function measureStalled(target: Target, path: string): Promise<Figure> {
  await Promise.all(Array.from({ length: stalledClients }, () => readAndForget(target, path)));
  const before = memoryOf(target.control);
  const lines = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}`);
  const sockets = Array.from({ length: stalledClients }, () => {
    const socket = connect(target.port, "127.0.0.1").on("error", () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${lines.join("\r\n")}\r\n\r\n`);
    return socket;
  });
  const { peak } = await withPeak(target.control, async () => {
    // The list of another client shows that the stalled ones have had their turns.
    await read(target, path, 2);
  });
  for (const socket of sockets) socket.destroy();
  const each = Math.max(0, peak - before) / stalledClients;
  return {
    name: `growth for each of ${stalledClients} clients that read nothing of ${path}`,
    measured: megabytes(each),
    target: "≤ 4 MB",
    isMet: each <= 4e6,
  };
}

async function readAndForget({ port, headers }: Target, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, headers })
      .once("error", reject)
      .once("response", (response) => response.resume().once("end", resolve))
      .end();
  });
}

async function tagOf({ port, headers }: Target, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, headers })
      .once("error", reject)
      .once("response", (response) => {
        resolve(String(response.headers.etag ?? ""));
        response.destroy();
      })
      .end();
  });
}

async function measureUnchanged(target: Target, path: string): Promise<Figure> {
  const tag = await tagOf(target, path);
  const conditional = { ...target, headers: { ...target.headers, "if-none-match": tag } };
  const responses = await read(conditional, path, 200);
  if (responses.some(({ status }) => status !== 304)) throw new Error(`${path} was not answered with 304`);
  return atMost(`304 of ${path}, median of 200`, median(responses.map(({ total }) => total)), 5);
}

/** The list of the console, a page of it at a time, to its last byte. */
async function measureOverviews(target: Target, companyId: string): Promise<Figure[]> {
  const queries = {
    "the first 100": "",
    "the last 100": "offset=9900",
    "found by a word that one name contains": "search=-5000",
    "most vulnerabilities first": "order=vulnerabilities&descending=true",
  };
  const figures: Figure[] = [];
  for (const [name, query] of Object.entries(queries)) {
    const path = `/v2/company/${companyId}/site-overviews?${query}`;
    await read(target, path, rounds);
    const responses = await read(target, path, rounds);
    if (responses.some(({ status }) => status !== 200)) throw new Error(`${path} was not answered with 200`);
    figures.push(
      atMost(`the console's sites, ${name}: median of ${rounds}`, median(responses.map(({ total }) => total)), 50),
    );
  }
  return figures;
}

/** Starts a separate installation. */
export async function measureLists(log: (line: string) => void): Promise<Figure[]> {
  const home = await createFolder();
  const installation = await startHere(home.folder, settings);
  try {
    log(`  ${sites} sites …`);
    await fill(installation);
    const target = await targetOf(installation);
    const figures: Figure[] = [];
    for (const [name, path] of [
      ["sites with environments", "/v2/sites"],
      ["sites alone", "/v2/sites?include_environments=false"],
      ["domains", "/v2/domains"],
    ] as const) {
      log(`  ${name} …`);
      figures.push(...(await measureList(target, name, path)));
    }
    log("  the console's list of sites …");
    figures.push(...(await measureOverviews(target, installation.firstRun.company_id)));
    log("  the console in a browser …");
    figures.push(...(await measureConsolePages(installation)));
    log("  unchanged lists and stalled clients …");
    figures.push(await measureUnchanged(target, "/v2/sites"));
    figures.push(await measureStalled(target, "/v2/sites"));
    return figures;
  } finally {
    await installation.stop();
    await home.remove();
  }
}

async function fill({ data, firstRun }: Installation): Promise<void> {
  const client = new pg.Client({ connectionString: readRun(data)?.database_url });
  await client.connect();
  try {
    await addManySites(client, { companyId: firstRun.company_id, count: sites, state: "deleting" });
    await client.query("analyze");
  } finally {
    await client.end();
  }
}

/** Processor time of the control process and of PostgreSQL with the processes of its connections, which come and go. */
async function spentBy({ supervisor }: Installation, control: number): Promise<ReadonlyMap<number, number>> {
  const all = await descendants(supervisor.pid ?? 0);
  return spentByProcesses(
    all.filter(({ id, command }) => id === control || /postgres/.test(command)).map(({ id }) => id),
  );
}

async function targetOf(installation: Installation): Promise<Target> {
  const { firstRun, supervisor } = installation;
  const [control] = await find(supervisor.pid ?? 0, "control");
  if (control === undefined) throw new Error("There is no control process");
  return {
    port: Number(new URL(firstRun.api_url).port),
    control: control.id,
    spent: () => spentBy(installation, control.id),
    headers: { authorization: `Bearer ${firstRun.api_key}` },
  };
}
