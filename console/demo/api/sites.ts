/** Sites and their labels. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { newBackup } from "../world/backups.ts";
import { newEnvironment, slugOf } from "../world/demoSites.ts";
import { send } from "../world/events.ts";
import { found, Refusal } from "../world/failures.ts";
import { addressOf, liveOf, pageOf, placeOf, seenSites, signedInPerson, siteOf } from "../world/find.ts";
import { newId } from "../world/ids.ts";
import { problemOf, start } from "../world/operations.ts";
import type { DemoEnvironment, DemoSite, World } from "../world/world.ts";
import { orderedOverviews } from "./overviews.ts";
import { environmentView, overviewOf, siteView } from "./views.ts";

function refuseTakenName({ sites }: World, displayName: string): void {
  if (!sites.some((site) => site.displayName.toLowerCase() === displayName.toLowerCase())) return;
  throw new Refusal("site_name_taken", `There is already a site with the name “${displayName}”. Choose another one.`, {
    display_name: displayName,
  });
}

interface NewSite {
  readonly kind: "addSite" | "addPlainSite" | "cloneSite";
  readonly displayName: string;
  readonly wordpress?: null;
  readonly source?: DemoEnvironment;
}

function createSite(world: World, { kind, displayName, wordpress, source }: NewSite): string {
  refuseTakenName(world, displayName);
  const name = slugOf(displayName);
  const live = newEnvironment({ site: name, name: "live", displayName: "Live", ...{ wordpress, source } });
  const site: DemoSite = {
    ...{ id: newId(), name, displayName, createdAt: world.clock.now() },
    labels: new Set(),
    environments: [live],
    isReady: false,
  };
  world.sites.push(site);
  return start(world, {
    kind,
    siteId: site.id,
    environmentId: live.id,
    text: `Add the site “${displayName}”`,
    problem: problemOf(displayName),
    apply: () => {
      site.isReady = true;
      send(world, "site.created", { site_id: site.id, name, display_name: displayName });
      return { address: addressOf(live) };
    },
    ended: ({ state }) => {
      if (state === "failed") world.sites.splice(world.sites.indexOf(site), 1);
    },
  });
}

/** Makes a last backup, unless it is deleted for good. */
function deleteSite(world: World, site: DemoSite, withoutBackup: boolean): string {
  const { id: deletedBy } = signedInPerson(world);
  return start(world, {
    kind: "deleteSite",
    siteId: site.id,
    environmentId: liveOf(site)?.id ?? null,
    text: `Delete the site “${site.displayName}”`,
    apply: () => {
      world.sites.splice(world.sites.indexOf(site), 1);
      const deleted = { deletedAt: world.clock.now(), deletedBy };
      for (const environment of site.environments) newBackup(world, environment, { type: "system-generated" });
      const backupId = liveOf(site)?.backups[0]?.id ?? 0;
      if (!withoutBackup) world.deletedSites.unshift({ thing: site, ...deleted, backupId });
      send(world, "site.deleted", { site_id: site.id, name: site.name, display_name: site.displayName });
      return null;
    },
  });
}

export const siteCalls = {
  listSites: (world, { query: { include_environments: isLong, limit, offset, search = "", label } }) => {
    const matches = seenSites(world)
      .filter((site) => `${site.name}\n${site.displayName}`.toLowerCase().includes(search.toLowerCase()))
      .filter((site) => label === undefined || site.labels.has(label));
    const items = pageOf(matches, { limit, offset }).map((site) => ({
      ...siteView(world, site),
      ...(isLong === false
        ? { environments: undefined }
        : { environments: site.environments.map((environment) => environmentView(world, site, environment)) }),
    }));
    return { version: "", read: async () => ({ items, next: null }) };
  },
  getSite: (world, { params }) => siteView(world, siteOf(world, params.site_id)),
  listSiteOverviews: (world, { query }) => {
    const all = seenSites(world).map((site) => overviewOf(world, site));
    const matches = orderedOverviews(all, query, world.clock.now());
    const versions = (pick: (live: NonNullable<(typeof all)[number]["live"]>) => string | null) =>
      [...new Set(all.flatMap(({ live }) => (live === null ? [] : (pick(live) ?? []))))].sort();
    return {
      total: matches.length,
      wordpress_versions: versions((live) => live.wordpress_version),
      php_versions: versions((live) => live.php_version),
      items: pageOf(matches, query),
    };
  },
  createSite: (world, { body }) => createSite(world, { kind: "addSite", displayName: body.display_name }),
  createPlainSite: (world, { body }) =>
    createSite(world, { kind: "addPlainSite", displayName: body.display_name, wordpress: null }),
  cloneSite: (world, { body }) => {
    const { environment: source } = placeOf(world, body.source_env_id);
    return createSite(world, { kind: "cloneSite", displayName: body.display_name, source });
  },
  deleteSite: (world, { params, query, body }) =>
    deleteSite(world, siteOf(world, params.site_id), (query.without_backup ?? body.without_backup) === true),
  resetSite: (world, { params }) => {
    const site = siteOf(world, params.site_id);
    const live = found(liveOf(site));
    const text = `Reset the site “${site.displayName}”`;
    const fresh = newEnvironment({ site: site.name, name: "live", displayName: "Live" });
    const apply = () => {
      live.packages = fresh.packages;
      live.redirects = [];
      live.wordpress = fresh.wordpress;
      return null;
    };
    return start(world, { kind: "resetSite", siteId: site.id, environmentId: live.id, text, apply });
  },
} satisfies Partial<Calls<World>>;
