/**
 * Cached pages and files at the edge, compared with a bare Node server that sends the same head and bytes, and with
 * nginx and the same bytes in a file. The clients use as much processor time as the server, so servers are compared by
 * the responses per second of their own processor time.
 */

import { randomBytes } from "node:crypto";
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
import { compareRates, type Rate, rateRounds } from "./rates.ts";
import { atMost, duration, type Figure } from "./report.ts";
import { type ServerProcess, startNginx, startNode } from "./serverProcess.ts";
import { median, timed } from "./statistics.ts";

const minShare = 0.5;
const crowd = 200;
const purges = 10;

/** The response that browsers get: with all headers, and compressed if it is text. */
async function responseOf(
  { port }: ServerProcess,
  path: string,
): Promise<{ readonly head: string[]; readonly body: Buffer }> {
  for (;;) {
    const headers = { host: "site.localhost", accept: "text/html", "accept-encoding": "br" };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: "127.0.0.1", port, path, headers, agent: false }, resolve).on("error", reject);
    });
    const body = await buffer(response);
    const skipped = new Set(["date", "connection", "keep-alive"]);
    const head = response.rawHeaders.filter((_, at, all) => !skipped.has((all[at - (at % 2)] ?? "").toLowerCase()));
    if (path.endsWith(".jpg") || response.headers["content-encoding"] === "br") return { head, body };
    await pause(20);
  }
}

interface Resource {
  readonly name: string;
  readonly path: string;
  readonly content: string | Buffer;
}

async function measureRates({ name, path, content }: Resource): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-page-"));
  const servers: ServerProcess[] = [];
  try {
    await writeFile(join(folder, "content"), content);
    const ours = await startNode("cacheServer.ts", ["edge", join(folder, "content"), path]);
    servers.push(ours);
    const { head, body } = await responseOf(ours, path);
    await writeFile(join(folder, "sent"), body);
    servers.push(await startNode("cacheServer.ts", ["bare", join(folder, "sent"), path, JSON.stringify(head)]));
    const server = "root .; index sent; default_type text/html; try_files /sent =404;";
    const nginx = await startNginx({ listen: "", server }, { sent: body });
    if (nginx !== null) servers.push(nginx);
    return figuresOf(`${name}, ${(body.length / 1_000).toFixed(1)} kB`, await compareRates(servers, path));
  } finally {
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function figuresOf(name: string, [ours, bare, nginx]: readonly Rate[]): Figure[] {
  if (ours === undefined || bare === undefined) throw new Error("Expected at least two servers");
  const share = (other: Rate) => `${((100 * ours.responses) / other.responses).toFixed(0)} %`;
  const others = nginx === undefined ? "" : `; nginx: ${nginx.responses.toFixed(0)} (${share(nginx)})`;
  return [
    {
      name: `${name}: responses per second of processor time, median of ${rateRounds}`,
      measured: `${ours.responses.toFixed(0)} (${share(bare)})`,
      target: `≥ ${100 * minShare} %`,
      isMet: ours.responses >= minShare * bare.responses,
      reference: `bare Node: ${bare.responses.toFixed(0)}${others}`,
    },
    atMost("– p99 with 50 concurrent visitors", ours.p99, Infinity, `bare Node: ${duration(bare.p99)}`),
  ];
}

/**
 * On a real site: time from a purge to the fresh page, and requests to PHP for many concurrent visitors of an uncached
 * page.
 */
async function measureFreshness(installation: Installation, adminSocket: string): Promise<Figure[]> {
  const site = await createSite(installation, { display_name: "Cached", site_title: "Cached" });
  const callEdge = (method: string, path: string, body?: string) =>
    ask({ port: 0 }, path, { socketPath: adminSocket, method, ...(body === undefined ? {} : { body }) });
  const purge = () =>
    callEdge("POST", "/cache/purge", JSON.stringify({ environmentId: site.environmentId, urls: ["/"], subtrees: [] }));
  const visit = async (query = "") => {
    const answer = await installation.visit(`${site.address}/${query}`);
    if (answer.status !== 200) throw new Error(`${site.address} answered ${answer.status}`);
  };
  await visit();
  const [waits, uncached]: [number[], number[]] = [[], []];
  for (let count = 0; count < purges; count += 1) {
    const { milliseconds } = await timed(async () => {
      await purge();
      await visit();
    });
    waits.push(milliseconds);
    // A query parameter that WordPress does not know bypasses the page cache.
    uncached.push((await timed(() => visit(`?uncached=${count}`))).milliseconds);
  }
  const requests = async () => {
    const usage: EdgeUsage = JSON.parse((await callEdge("GET", "/usage")).body);
    return usage.environments.find(({ environmentId }) => environmentId === site.environmentId)?.phpRequests ?? 0;
  };
  await purge();
  const before = await requests();
  await Promise.all(Array.from({ length: crowd }, () => visit()));
  const cost = (await requests()) - before;
  return [
    atMost(`purge → fresh page, median of ${purges}`, median(waits), 100, `PHP alone: ${duration(median(uncached))}`),
    {
      name: `${crowd} concurrent visitors of an uncached page: requests to PHP`,
      measured: String(cost),
      target: "1",
      isMet: cost === 1,
    },
  ];
}

export async function measureCache(installation: Installation, adminSocket: string): Promise<Figure[]> {
  const site = await createSite(installation, { display_name: "Typical", site_title: "Typical" });
  const { text } = await installation.visit(`${site.address}/`);
  return [
    ...(await measureRates({ name: "cached page", path: "/", content: text })),
    ...(await measureRates({ name: "style sheet", path: "/style.css?ver=1", content: text })),
    ...(await measureRates({ name: "picture", path: "/cat.jpg", content: randomBytes(1 << 20) })),
    ...(await measureFreshness(installation, adminSocket)),
  ];
}
