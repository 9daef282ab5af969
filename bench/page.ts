/**
 * The edge's overhead for an uncached page: an environment's front page through the edge over HTTP, compared with a
 * worker of this process called directly. Requests alternate, so that changes in the machine's speed affect both.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { send } from "@sitewright/e2e/http.ts";
import type { Installation } from "@sitewright/e2e/installation.ts";
import type { CreatedSite } from "@sitewright/e2e/sites.ts";
import type { EdgeTable } from "@sitewright/edge/tables/table.ts";
import { createPlaygroundServing } from "@sitewright/runtimes/playground/serving.ts";
import type { Serving } from "@sitewright/runtimes/serving.ts";
import { median, timed } from "./statistics.ts";

/** A cookie bypasses the page cache. */
const uncached = { cookie: "visitor=one" };
const rounds = 40;
const warmUp = 5;

interface PageCost {
  readonly edgeMilliseconds: number;
  readonly directMilliseconds: number;
}

/** Medians without the first rounds, which warm up both workers. */
export async function measurePage(installation: Installation, site: CreatedSite): Promise<PageCost> {
  const folder = await mkdtemp(join(tmpdir(), "sitewright-bench-"));
  const serving = await serveDirectly(installation, site, folder);
  const edge: number[] = [];
  const direct: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const overHttp = await timed(() => send("GET", `${site.address}/`, { headers: uncached }));
      if (overHttp.value.status !== 200) throw new Error(`${site.address} answered ${overHttp.value.status}`);
      const fromWorker = await timed(() => callWorker(serving, site));
      if (round < warmUp) continue;
      edge.push(overHttp.milliseconds);
      direct.push(fromWorker.milliseconds);
    }
  } finally {
    await serving.close();
    await rm(folder, { recursive: true, force: true });
  }
  return { edgeMilliseconds: median(edge), directMilliseconds: median(direct) };
}

async function serveDirectly(installation: Installation, site: CreatedSite, run: string): Promise<Serving> {
  const table: EdgeTable = JSON.parse(await readFile(join(installation.data, "edge", "table.json"), "utf8"));
  const environment = table.environments.find(({ id }) => id === site.environmentId);
  if (environment === undefined) throw new Error(`The edge does not serve ${site.environmentId}`);
  const serving = createPlaygroundServing({
    assets: join(installation.data, "assets"),
    environments: join(installation.data, "environments"),
    run,
    credentialOf: () => "",
    edgePort: () => Number(new URL(installation.firstRun.sites_url).port),
    siteSuffix: "localhost",
    spareWorkers: 0,
    maxWorkers: 2,
    requestDeadlineSeconds: 60,
    idleSeconds: 300,
  });
  await serving.setEnvironments([environment]);
  return serving;
}

async function callWorker(serving: Serving, site: CreatedSite): Promise<void> {
  const answer = await serving.handle(site.environmentId, {
    method: "GET",
    url: "/",
    script: "/index.php",
    pathInfo: "",
    headers: { host: new URL(site.address).host },
    body: null,
    remoteAddress: "127.0.0.1",
    https: false,
    fromPhp: false,
    signal: new AbortController().signal,
  });
  await text(answer.body);
  if (answer.status !== 200) throw new Error(`The worker answered ${answer.status}`);
}
