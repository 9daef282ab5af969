/** Updates of a theme under visitors, from a mirror on this machine. */
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
const many = 50;
const atOnce = 4;
const theme = "twentytwentyfive";

export interface BenchMirror extends AsyncDisposable {
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

/** The theme that is there, as another version. */
async function offerTheme(source: string, version: string, mirror: BenchMirror): Promise<void> {
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

/** One call that updates the theme everywhere, four at a time; until the last one has it. */
async function measureRollout(installation: Installation, mirror: BenchMirror, ready: () => Promise<void>) {
  const ids: string[] = [];
  for (let count = 1; count <= many; count += 1) {
    const name = `Fleet ${count}`;
    ids.push((await createSite(installation, { display_name: name, site_title: name })).environmentId);
  }
  const themes = join(installation.data, "environments", ids[0] ?? "", "current/public/wp-content/themes");
  await offerTheme(join(themes, theme), "99.0", mirror);
  await ready();
  const rollouts = `/company/${installation.firstRun.company_id}/rollouts`;
  const wish = {
    type: "theme",
    name: theme,
    update_version: "99.0",
    environments: ids,
    canaries: 0,
    concurrency: atOnce,
  };
  const { milliseconds, value } = await timed(async () => {
    const asked = await installation.api("POST", rollouts, { ...wish, stop_after_failures: many });
    if (asked.status !== 201) throw new Error(`POST ${rollouts} answered ${asked.status}: ${asked.text}`);
    const { id } = asked.json<{ rollout: Rollout }>().rollout;
    for (;;) {
      const { rollout } = (await installation.api("GET", `${rollouts}/${id}`)).json<{ rollout: Rollout }>();
      if (rollout.ended_at !== null) return rollout;
      await delay(250);
    }
  });
  const { updated } = value.counts;
  const [problem] = value.environments.flatMap(({ reason }) => reason ?? []);
  return {
    name: `update of a theme in ${many} sites by one call, ${atOnce} at a time: those that have it`,
    measured: `${updated} of ${many} in ${duration(milliseconds)}`,
    target: `${many}`,
    isMet: updated === many,
    reference: problem ?? `${duration(milliseconds / many)} for each`,
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
    await offerTheme(join(themes, theme), version, mirror);
    await ready();
    const updated = await withVisitors(installation, site.address, () =>
      carryOut(installation, "PUT", path, { name: theme, update_version: version }),
    );
    times.push(updated.milliseconds);
    visits.push(updated.visits);
  }
  return [
    atMost(`update of a theme, with visitors, median of ${rounds}`, median(times), 5_000),
    noErrors("update of a theme", all(visits)),
    await measureRollout(installation, mirror, ready),
  ];
}
