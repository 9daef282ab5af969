/**
 * A page that the edge has kept, beside a bare server of Node that sends the same head and bytes, and nginx with the same bytes
 * in a file. The visitors take as much of the machine as the server, so what is compared is how many pages a server sends
 * in a second of processor time.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import { ask } from "@sitewright/edge/testing/http.ts";
import type { EdgeUsage } from "@sitewright/edge/usage.ts";
import { atMost, duration, type Figure } from "./report.ts";
import { child, messageFrom, processorSeconds, type ServerProcess, startNginx, startNode } from "./serverProcess.ts";
import { median, timed } from "./statistics.ts";

const rounds = 5;
const roundMilliseconds = 3_000;
const leastShare = 0.5;
const crowd = 200;
const purges = 10;

interface Load {
  readonly answers: number;
  readonly failures: number;
  readonly p99: number;
}

interface Rate {
  /** Pages for each second of the server's processor time. */
  readonly pages: number;
  readonly p99: number;
}

function isLoad(said: unknown): said is Load {
  return typeof said === "object" && said !== null && "answers" in said && "p99" in said;
}

async function load({ port, pid }: ServerProcess): Promise<Rate> {
  const before = processorSeconds(pid);
  const said = await messageFrom(child("cacheClient.ts", [String(port), String(roundMilliseconds)]));
  if (!isLoad(said) || said.failures > 0)
    throw new Error(`The visitors were not all answered: ${JSON.stringify(said)}`);
  return { pages: said.answers / (processorSeconds(pid) - before), p99: said.p99 };
}

/** The page as browsers get it: compressed, with all its headers. */
async function keptPage({ port }: ServerProcess): Promise<{ readonly head: string[]; readonly body: Buffer }> {
  for (;;) {
    const headers = { host: "site.localhost", accept: "text/html", "accept-encoding": "br" };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: "127.0.0.1", port, headers, agent: false }, resolve).on("error", reject);
    });
    const body = await buffer(response);
    const ours = new Set(["date", "connection", "keep-alive"]);
    const head = response.rawHeaders.filter((_, at, all) => !ours.has((all[at - (at % 2)] ?? "").toLowerCase()));
    if (response.headers["content-encoding"] === "br") return { head, body };
    await pause(20);
  }
}

async function measureRates(html: string): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-page-"));
  const servers: ServerProcess[] = [];
  try {
    await writeFile(join(folder, "page.html"), html);
    const ours = await startNode("cacheServer.ts", ["edge", join(folder, "page.html")]);
    servers.push(ours);
    const { head, body } = await keptPage(ours);
    await writeFile(join(folder, "page.br"), body);
    servers.push(await startNode("cacheServer.ts", ["bare", join(folder, "page.br"), JSON.stringify(head)]));
    const nginx = await startNginx(
      { listen: "", server: "root .; index page.br; default_type text/html;" },
      { "page.br": body },
    );
    if (nginx !== null) servers.push(nginx);
    const rates = servers.map((): Rate[] => []);
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, server] of servers.entries()) {
        const rate = await load(server);
        // The first round is for warming up.
        if (round > 0) rates[index]?.push(rate);
      }
    }
    return figuresOf(rates, body.length);
  } finally {
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function figuresOf(rates: readonly (readonly Rate[])[], bytes: number): Figure[] {
  const pages = rates.map((all) => median(all.map((rate) => rate.pages)));
  const p99 = rates.map((all) => median(all.map((rate) => rate.p99)));
  const [ours = 0, bare = 0, nginx] = pages;
  const [oursP99 = 0, bareP99 = 0] = p99;
  const others = nginx === undefined ? "" : `; nginx: ${nginx.toFixed(0)} (${((100 * ours) / nginx).toFixed(0)} %)`;
  return [
    {
      name: `cached page of ${(bytes / 1_000).toFixed(1)} kB, answers a second of processor time, median of ${rounds}`,
      measured: `${ours.toFixed(0)} (${((100 * ours) / bare).toFixed(0)} %)`,
      target: `≥ ${100 * leastShare} %`,
      isMet: ours >= leastShare * bare,
      reference: `bare Node: ${bare.toFixed(0)}${others}`,
    },
    atMost("the same, p99 of 50 visitors at once", oursP99, Infinity, `bare Node: ${duration(bareP99)}`),
  ];
}

/** A real site: how soon a page is fresh again, and what a crowd at one that is not there costs. */
async function measureFreshness(installation: Installation, adminSocket: string): Promise<Figure[]> {
  const site = await createSite(installation, { display_name: "Cached", site_title: "Cached" });
  const tell = (method: string, path: string, body?: string) =>
    ask({ port: 0 }, path, { socketPath: adminSocket, method, ...(body === undefined ? {} : { body }) });
  const purge = () =>
    tell("POST", "/cache/purge", JSON.stringify({ environmentId: site.environmentId, urls: ["/"], subtrees: [] }));
  const visit = async () => {
    const answer = await installation.visit(`${site.address}/`);
    if (answer.status !== 200) throw new Error(`${site.address} answered ${answer.status}`);
  };
  await visit();
  const waits: number[] = [];
  for (let count = 0; count < purges; count += 1) {
    const { milliseconds } = await timed(async () => {
      await purge();
      await visit();
    });
    waits.push(milliseconds);
  }
  const requests = async () => {
    const usage: EdgeUsage = JSON.parse((await tell("GET", "/usage")).body);
    return usage.environments.find(({ environmentId }) => environmentId === site.environmentId)?.phpRequests ?? 0;
  };
  await purge();
  const before = await requests();
  await Promise.all(Array.from({ length: crowd }, visit));
  const cost = (await requests()) - before;
  return [
    atMost(`purge → fresh page, median of ${purges}`, median(waits), 100, "PHP makes it"),
    {
      name: `${crowd} visitors at once at a page that is not kept: requests to PHP`,
      measured: String(cost),
      target: "1",
      isMet: cost === 1,
    },
  ];
}

export async function measureCache(installation: Installation, adminSocket: string): Promise<Figure[]> {
  const site = await createSite(installation, { display_name: "Typical", site_title: "Typical" });
  const { text } = await installation.visit(`${site.address}/`);
  return [...(await measureRates(text)), ...(await measureFreshness(installation, adminSocket))];
}
