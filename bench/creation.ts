/**
 * Measures the creation of a site: from `POST /sites` to the 202, and to the first front page with the site's title.
 */
import type { Installation } from "@sitewright/e2e/installation.ts";
import { acceptSite, followOperation } from "@sitewright/e2e/sites.ts";
import { until } from "@sitewright/e2e/until.ts";
import { edgeStatus } from "./edgeStatus.ts";

export interface Creation {
  /** Of the site, without a slash at the end. */
  readonly address: string;
  readonly acceptedMilliseconds: number;
  readonly firstPageMilliseconds: number;
}

/** Creates a site, by default in the default region. Throws if its operation fails or its page does not load within a minute. */
export async function measureCreation(installation: Installation, name: string, region?: string): Promise<Creation> {
  const startedAt = performance.now();
  const place = region === undefined ? {} : { region };
  const operationId = await acceptSite(installation, { display_name: name, site_title: name, ...place });
  const acceptedMilliseconds = performance.now() - startedAt;

  const port = new URL(installation.firstRun.sites_url).port;
  const address = `http://${name.toLowerCase().replaceAll(" ", "-")}.localhost:${port}`;
  const firstPageMilliseconds = await until(
    async () => {
      const page = await installation.visit(`${address}/`);
      if (page.status !== 200 || !page.text.includes(name)) throw new Error(`${address} answered ${page.status}`);
      return performance.now() - startedAt;
    },
    { deadlineSeconds: 60, intervalMilliseconds: 5 },
  );
  const ended = await followOperation(installation, operationId);
  if (ended.status !== 200) throw new Error(`${name} failed: ${JSON.stringify(ended)}`);
  return { address, acceptedMilliseconds, firstPageMilliseconds };
}

/** Waits until `count` prepared workers are warm, as on a machine that was idle for a minute. */
export async function untilWorkersArePrepared(adminSocket: string, count: number): Promise<void> {
  await until(
    async () => {
      const { preparedWorkers } = await edgeStatus(adminSocket);
      if (preparedWorkers < count) throw new Error(`${preparedWorkers} of ${count} prepared workers are warm`);
    },
    { deadlineSeconds: 120, intervalMilliseconds: 50 },
  );
}
