/**
 * The edge's overhead for an uncached page: an environment's front page through the edge over HTTP, compared with a
 * worker of this process called directly. Requests alternate, so that changes in the machine's speed affect both.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { send } from "@sitewright/e2e/http.ts";
import type { Installation } from "@sitewright/e2e/installation.ts";
import type { CreatedSite } from "@sitewright/e2e/sites.ts";
import { loadPage, serveDirectly } from "./directServing.ts";
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
      const fromWorker = await timed(() => loadPage(serving, site));
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
