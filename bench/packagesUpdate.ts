/** Measures theme updates with visitors, from a local mirror. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import { makeMirror } from "@sitewright/server/packages/mirror.ts";
import { zipOf } from "@sitewright/server/packages/testing/zips.ts";
import { all, carryOut, noErrors, type Visits, withVisitors } from "./environments.ts";
import { atMost, duration, type Figure } from "./report.ts";
import { median, timed } from "./statistics.ts";

const rounds = 3;
const rolloutSites = 50;
const concurrency = 4;
const theme = "twentytwentyfive";

interface BenchMirror extends AsyncDisposable {
  readonly url: string;
  readonly folder: string;
}

export async function startMirror(): Promise<BenchMirror> {
  const folder = await mkdtemp(join(tmpdir(), "sw-mirror-"));
  const server = makeMirror(folder);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The mirror has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    folder,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Adds the installed theme to the mirror as another version. */
async function publishTheme(source: string, version: string, mirror: BenchMirror): Promise<void> {
  const files = (await readdir(source, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const content = files.map(async ({ parentPath, name }) => {
    const file = join(parentPath, name);
    const bytes = await readFile(file);
    const isStyle = file === join(source, "style.css");
    const changed = isStyle ? bytes.toString("utf8").replace(/^Version: .*$/m, `Version: ${version}`) : bytes;
    return [`${theme}/${file.slice(source.length + 1)}`, { content: changed }] as const;
  });
  const zip = await zipOf(Object.fromEntries(await Promise.all(content)));
  await writeFile(join(mirror.folder, `${theme}.${version}.zip`), zip);
}

interface Rollout {
  readonly id: string;
  readonly ended_at: string | null;
  readonly counts: { readonly updated: number };
  readonly environments: readonly { readonly reason: string | null }[];
}

/** Updates the theme on all sites with one call, and waits until the last one has it. */
async function measureRollout(installation: Installation, mirror: BenchMirror, ready: () => Promise<void>) {
  const ids: string[] = [];
  for (let count = 1; count <= rolloutSites; count += 1) {
    const name = `Fleet ${count}`;
    ids.push((await createSite(installation, { display_name: name, site_title: name })).environmentId);
  }
  const themes = join(installation.data, "environments", ids[0] ?? "", "current/public/wp-content/themes");
  await publishTheme(join(themes, theme), "99.0", mirror);
  await ready();
  const rollouts = `/company/${installation.firstRun.company_id}/rollouts`;
  const body = {
    type: "theme",
    name: theme,
    update_version: "99.0",
    environments: ids,
    canaries: 0,
    concurrency,
    stop_after_failures: rolloutSites,
  };
  const { milliseconds, value } = await timed(async () => {
    const answer = await installation.api("POST", rollouts, body);
    if (answer.status !== 201) throw new Error(`POST ${rollouts} answered ${answer.status}: ${answer.text}`);
    const { id } = answer.json<{ rollout: Rollout }>().rollout;
    for (;;) {
      const { rollout } = (await installation.api("GET", `${rollouts}/${id}`)).json<{ rollout: Rollout }>();
      if (rollout.ended_at !== null) return rollout;
      await delay(250);
    }
  });
  const { updated } = value.counts;
  const [problem] = value.environments.flatMap(({ reason }) => reason ?? []);
  return {
    name: `theme update on ${rolloutSites} sites with one call, ${concurrency} at a time: updated sites`,
    measured: `${updated} of ${rolloutSites} in ${duration(milliseconds)}`,
    target: `${rolloutSites}`,
    isMet: updated === rolloutSites,
    reference: problem ?? `${duration(milliseconds / rolloutSites)} for each`,
  };
}

export async function measureUpdates(
  installation: Installation,
  mirror: BenchMirror,
  ready: () => Promise<void>,
): Promise<readonly Figure[]> {
  const site = await createSite(installation, { display_name: "Updated", site_title: "Updated" });
  const themes = join(installation.data, "environments", site.environmentId, "current/public/wp-content/themes");
  const path = `/sites/environments/${site.environmentId}/themes`;
  const times: number[] = [];
  const visits: Visits[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const version = `${90 + round}.0`;
    await publishTheme(join(themes, theme), version, mirror);
    await ready();
    const updated = await withVisitors(installation, site.address, () =>
      carryOut(installation, "PUT", path, { name: theme, update_version: version }),
    );
    times.push(updated.milliseconds);
    visits.push(updated.visits);
  }
  return [
    atMost(`theme update with visitors, median of ${rounds}`, median(times), 5_000),
    noErrors("theme update", all(visits)),
    await measureRollout(installation, mirror, ready),
  ];
}
