/**
 * A page that the edge has kept, and files, beside a bare server of Node that sends the same head and bytes, and nginx with the
 * same bytes in a file. The visitors take as much of the machine as the server, so what is compared is how many pages a server sends
 * in a second of processor time.
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

const leastShare = 0.5;
const crowd = 200;
const purges = 10;

/** As browsers get it: compressed, where it is a text, with all its headers. */
async function sentBy(
  { port }: ServerProcess,
  path: string,
): Promise<{ readonly head: string[]; readonly body: Buffer }> {
  for (;;) {
    const headers = { host: "site.localhost", accept: "text/html", "accept-encoding": "br" };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: "127.0.0.1", port, path, headers, agent: false }, resolve).on("error", reject);
    });
    const body = await buffer(response);
    const ofConnections = new Set(["date", "connection", "keep-alive"]);
    const head = response.rawHeaders.filter(
      (_, at, all) => !ofConnections.has((all[at - (at % 2)] ?? "").toLowerCase()),
    );
    if (path.endsWith(".jpg") || response.headers["content-encoding"] === "br") return { head, body };
    await pause(20);
  }
}

/** What is asked for, and what ours sends of it. */
interface Asked {
  readonly name: string;
  readonly path: string;
  readonly content: string | Buffer;
}

async function measureRates({ name, path, content }: Asked): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-page-"));
  const servers: ServerProcess[] = [];
  try {
    await writeFile(join(folder, "content"), content);
    const ours = await startNode("cacheServer.ts", ["edge", join(folder, "content"), path]);
    servers.push(ours);
    const { head, body } = await sentBy(ours, path);
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
  if (ours === undefined || bare === undefined) throw new Error("There are two servers at least");
  const share = (other: Rate) => `${((100 * ours.answers) / other.answers).toFixed(0)} %`;
  const others = nginx === undefined ? "" : `; nginx: ${nginx.answers.toFixed(0)} (${share(nginx)})`;
  return [
    {
      name: `${name}: answers a second of processor time, median of ${rateRounds}`,
      measured: `${ours.answers.toFixed(0)} (${share(bare)})`,
      target: `≥ ${100 * leastShare} %`,
      isMet: ours.answers >= leastShare * bare.answers,
      reference: `bare Node: ${bare.answers.toFixed(0)}${others}`,
    },
    atMost("– p99 of 50 visitors at once", ours.p99, Infinity, `bare Node: ${duration(bare.p99)}`),
  ];
}

/** A real site: how soon a page is fresh again, and what a crowd at one that is not there costs. */
async function measureFreshness(installation: Installation, adminSocket: string): Promise<Figure[]> {
  const site = await createSite(installation, { display_name: "Cached", site_title: "Cached" });
  const tell = (method: string, path: string, body?: string) =>
    ask({ port: 0 }, path, { socketPath: adminSocket, method, ...(body === undefined ? {} : { body }) });
  const purge = () =>
    tell("POST", "/cache/purge", JSON.stringify({ environmentId: site.environmentId, urls: ["/"], subtrees: [] }));
  const visit = async (query = "") => {
    const answer = await installation.visit(`${site.address}/${query}`);
    if (answer.status !== 200) throw new Error(`${site.address} answered ${answer.status}`);
  };
  await visit();
  const [waits, alone]: [number[], number[]] = [[], []];
  for (let count = 0; count < purges; count += 1) {
    const { milliseconds } = await timed(async () => {
      await purge();
      await visit();
    });
    waits.push(milliseconds);
    // With a field that WordPress does not know, no page is one that was kept.
    alone.push((await timed(() => visit(`?anew=${count}`))).milliseconds);
  }
  const requests = async () => {
    const usage: EdgeUsage = JSON.parse((await tell("GET", "/usage")).body);
    return usage.environments.find(({ environmentId }) => environmentId === site.environmentId)?.phpRequests ?? 0;
  };
  await purge();
  const before = await requests();
  await Promise.all(Array.from({ length: crowd }, () => visit()));
  const cost = (await requests()) - before;
  return [
    atMost(`purge → fresh page, median of ${purges}`, median(waits), 100, `PHP alone: ${duration(median(alone))}`),
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
  return [
    ...(await measureRates({ name: "cached page", path: "/", content: text })),
    ...(await measureRates({ name: "style sheet", path: "/style.css?ver=1", content: text })),
    ...(await measureRates({ name: "picture", path: "/cat.jpg", content: randomBytes(1 << 20) })),
    ...(await measureFreshness(installation, adminSocket)),
  ];
}
