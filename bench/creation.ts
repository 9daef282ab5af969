/**
 * How long a person waits for a site: from sending `POST /sites` to the 202, and to the first 200 of the front
 * page with the site's title, asked for again and again as an impatient browser would.
 */
import type { Installation } from "@sitewright/e2e/installation.ts";
import { acceptSite, followOperation } from "@sitewright/e2e/sites.ts";
import { until } from "@sitewright/e2e/until.ts";
import { edgeStatus } from "./edgeStatus.ts";

export interface Creation {
  readonly acceptedMilliseconds: number;
  readonly firstPageMilliseconds: number;
}

/** Creates a site; throws if its operation fails or its page does not come within a minute. */
export async function measureCreation(installation: Installation, name: string): Promise<Creation> {
  const began = performance.now();
  const operationId = await acceptSite(installation, { display_name: name, site_title: name });
  const acceptedMilliseconds = performance.now() - began;

  const port = new URL(installation.firstRun.sites_url).port;
  const address = `http://${name.toLowerCase().replaceAll(" ", "-")}.localhost:${port}/`;
  const firstPageMilliseconds = await until(
    async () => {
      const page = await installation.visit(address);
      if (page.status !== 200 || !page.text.includes(name)) throw new Error(`${address} answered ${page.status}`);
      return performance.now() - began;
    },
    { deadlineSeconds: 60, intervalMilliseconds: 5 },
  );
  const ended = await followOperation(installation, operationId);
  if (ended.status !== 200) throw new Error(`${name} failed: ${JSON.stringify(ended)}`);
  return { acceptedMilliseconds, firstPageMilliseconds };
}

/** Waits until a spare worker is warm for each of the next `count` sites, as on a machine that had a quiet minute. */
export async function untilSparesAreWarm(adminSocket: string, count: number): Promise<void> {
  await until(
    async () => {
      const { spares } = await edgeStatus(adminSocket);
      if (spares < count) throw new Error(`${spares} of ${count} spare workers are warm`);
    },
    { deadlineSeconds: 120, intervalMilliseconds: 50 },
  );
}
