/** PHP workers of this process that serve an environment of an installation, without the edge in between. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Installation } from "@sitewright/e2e/installation.ts";
import type { CreatedSite } from "@sitewright/e2e/sites.ts";
import type { EdgeEnvironment, EdgeTable } from "@sitewright/edge/tables/table.ts";
import { createPlaygroundServing } from "@sitewright/runtimes/playground/serving.ts";
import type { Serving } from "@sitewright/runtimes/serving.ts";

/** Returns the live environment of a site as the edge serves it. */
export async function environmentOf({ data }: Installation, { environmentId }: CreatedSite): Promise<EdgeEnvironment> {
  const table: EdgeTable = JSON.parse(await readFile(join(data, "edge", "table.json"), "utf8"));
  const environment = table.environments.find(({ id }) => id === environmentId);
  if (environment === undefined) throw new Error(`The edge does not serve ${environmentId}`);
  return environment;
}

/** Serves the live environment of a site. `run` is a folder for sockets; the assets are the installation's by default. */
export async function serveDirectly(
  installation: Installation,
  site: CreatedSite,
  run: string,
  assets = join(installation.data, "assets"),
): Promise<Serving> {
  const environment = await environmentOf(installation, site);
  const serving = createPlaygroundServing({
    assets,
    environments: join(installation.data, "environments"),
    run,
    credentialOf: () => "",
    edgePort: () => Number(new URL(installation.firstRun.sites_url).port),
    siteSuffix: "localhost",
    preparedWorkers: 0,
    maxWorkers: 2,
    requestDeadlineSeconds: 60,
    idleSeconds: 300,
  });
  await serving.setEnvironments([environment]);
  return serving;
}

/** Loads a page. Throws unless it was found. */
export async function loadPage(serving: Serving, site: CreatedSite, url = "/"): Promise<void> {
  const answer = await serving.handle(site.environmentId, {
    method: "GET",
    url,
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
  if (answer.status !== 200) throw new Error(`The worker answered ${answer.status} for ${url}`);
}
