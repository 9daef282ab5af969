/** Backups, restores, downloads, and deleted sites and environments. */
import type { Calls, ResponseHandlers } from "@sitewright/contract/endpoints.ts";
import { newBackup } from "../world/backups.ts";
import { slugOf } from "../world/demoSites.ts";
import { found, Refusal } from "../world/failures.ts";
import { addressOf, backupOf, environmentOf, isoOf, liveOf, pageOf, personOf, siteOf } from "../world/find.ts";
import { newId } from "../world/ids.ts";
import { start } from "../world/operations.ts";
import type { Deleted, DemoBackup, DemoEnvironment, ResultOf, World } from "../world/world.ts";
import { comparison } from "./environments.ts";
import { targetOf } from "./tools.ts";

const day = 86_400_000;
const kept = 30 * day;

const backupView = ({ id, name, note, type, createdAt, provenAt, bytes }: DemoBackup) => ({
  ...{ id, name, note, type },
  created_at: createdAt,
  verified_at: createdAt + 60_000,
  expires_at: createdAt + kept,
  last_proven_restore: provenAt,
  proof_error: null,
  damage: null,
  size_bytes: bytes,
});

function deletedView(world: World, { thing, deletedAt, deletedBy, backupId }: Deleted<DemoEnvironment>) {
  const { id, name, displayName, isPremium, diskBytes } = thing;
  return {
    ...{ id, name, display_name: displayName, is_premium: isPremium, is_blocked: false },
    deleted_at: deletedAt,
    deleted_by: personOf(world, deletedBy).fullName,
    restorable_until: deletedAt + kept,
    backup_id: backupId,
    backed_up_at: deletedAt,
    size_bytes: Math.round(diskBytes * 0.6),
  } satisfies ResultOf<"listDeletedEnvironments">[number];
}

function restored(world: World, environments: readonly DemoEnvironment[]) {
  const [first] = environments;
  return {
    address: addressOf(found(first)),
    environments: environments.map(({ id, displayName, backups: [newest] }) => ({
      environment_id: id,
      display_name: displayName,
      backup_id: newest?.id ?? 0,
      backup_created_at: isoOf(newest?.createdAt ?? world.clock.now()),
      damaged_backups: 0,
    })),
    left_out_domains: [],
  };
}

type RestoreBody = Parameters<Calls<World>["restoreBackup"]>[1]["body"];

function restore(world: World, environmentId: string, body: RestoreBody): string {
  const { environment, name, target } = targetOf(world, environmentId);
  const known = world.sites.flatMap((site) => site.environments.flatMap(({ backups }) => backups));
  if (!known.some(({ id }) => id === body.backup_id)) {
    throw new Refusal("unknown_backup", "There is no such backup.", { fields: ["backup_id"] });
  }
  if (body.dry_run === true) {
    const apply = () => comparison(body.only !== "files");
    return start(world, { ...target, kind: "compareRestore", text: `Compare a backup with ${name}`, apply });
  }
  const apply = () => {
    if (body.without_backup !== true)
      newBackup(world, environment, { type: "system-generated", note: "Before a restore" });
    return null;
  };
  return start(world, { ...target, kind: "restoreBackup", text: `Restore a backup of ${name}`, apply });
}

export const backupCalls = {
  addManualBackup: (world, { params, body }) => {
    const { environment, name, target } = targetOf(world, params.env_id);
    const apply = () => {
      newBackup(world, environment, { type: "manual", note: body.tag ?? null });
      return null;
    };
    return start(world, { ...target, kind: "addManualBackup", text: `Back up ${name}`, apply });
  },
  compareBackups: (world, { params }) => {
    const id = Number(params.backup_id);
    backupOf(world, id);
    const { files } = comparison(true);
    return {
      files,
      tables: [
        { table: "wp_posts", before: 214, after: 217 },
        { table: "wp_links", before: 1, after: null },
      ],
    };
  },
  removeBackup: (world, { params }) => {
    const { site, environment, backup } = backupOf(world, Number(params.backup_id));
    const apply = () => {
      environment.backups.splice(environment.backups.indexOf(backup), 1);
      return null;
    };
    const text = `Delete a backup of ${site.displayName} (${environment.displayName})`;
    return start(world, { kind: "removeBackup", siteId: site.id, environmentId: environment.id, text, apply });
  },
  restoreBackup: (world, { params, body }) => restore(world, params.target_env_id, body),
  listDeletedSites: (world) =>
    world.deletedSites.map(({ thing: site, ...facts }) => ({
      ...{ id: site.id, name: site.name, display_name: site.displayName, region: "this-machine" },
      deleted_at: facts.deletedAt,
      deleted_by: personOf(world, facts.deletedBy).fullName,
      restorable_until: facts.deletedAt + kept,
      environments: site.environments.map((thing) => deletedView(world, { thing, ...facts })),
    })),
  restoreDeletedSite: (world, { params, body }) => {
    const deleted = found(world.deletedSites.find(({ thing }) => thing.id === params.site_id));
    const displayName = body.display_name ?? deleted.thing.displayName;
    if (world.sites.some((site) => site.displayName.toLowerCase() === displayName.toLowerCase())) {
      const message = `There is already a site with the name “${displayName}”. Choose another one.`;
      throw new Refusal("site_name_taken", message, { display_name: displayName });
    }
    const site = { ...deleted.thing, displayName, name: slugOf(displayName) };
    const apply = () => {
      world.deletedSites.splice(world.deletedSites.indexOf(deleted), 1);
      world.sites.push(site);
      return restored(world, site.environments);
    };
    const place = { siteId: site.id, environmentId: liveOf(site)?.id ?? null };
    return start(world, { ...place, kind: "restoreDeletedSite", text: `Restore the site “${displayName}”`, apply });
  },
  listDeletedEnvironments: (world, { params }) =>
    world.deletedEnvironments
      .filter(({ siteId }) => siteId === params.site_id)
      .map((deleted) => deletedView(world, deleted)),
  restoreDeletedEnvironment: (world, { params, body }) => {
    const site = siteOf(world, params.site_id);
    const deleted = found(world.deletedEnvironments.find(({ thing }) => thing.id === params.env_id));
    const displayName = body.display_name ?? deleted.thing.displayName;
    const environment = { ...deleted.thing, displayName };
    const apply = () => {
      world.deletedEnvironments.splice(world.deletedEnvironments.indexOf(deleted), 1);
      site.environments.push(environment);
      return restored(world, [environment]);
    };
    const place = { siteId: site.id, environmentId: environment.id };
    const text = `Restore the environment “${displayName}” of “${site.displayName}”`;
    return start(world, { ...place, kind: "restoreDeletedEnvironment", text, apply });
  },
  listDownloadableBackups: (world, { params }) => {
    const { displayName, downloads } = environmentOf(world, params.env_id);
    return {
      display_name: displayName,
      downloadable_backups: downloads.map(({ id, createdAt, isReady }) => ({
        id,
        created_at: createdAt,
        download_link: isReady ? "nothing-here.html" : null,
        expires_at: createdAt + day,
        is_generation_in_progress: !isReady,
      })),
    };
  },
  addDownloadableBackup: (world, { params }) => {
    const { environment, name, target } = targetOf(world, params.env_id);
    const download = { id: newId(), createdAt: world.clock.now(), isReady: false };
    environment.downloads.unshift(download);
    const apply = () => {
      download.isReady = true;
      return { id: download.id, expires_at: download.createdAt + day, download_link: "nothing-here.html" };
    };
    return start(world, { ...target, kind: "addDownloadableBackup", text: `Pack a download of ${name}`, apply });
  },
} satisfies Partial<Calls<World>>;

export const backupHandlers = {
  listBackups: async (world, { params, query: { limit, offset, after } }) => {
    const { displayName, backups } = environmentOf(world, params.env_id);
    const rest = after === undefined ? backups : backups.filter(({ id }) => id < after);
    const items = pageOf(rest, { limit, offset }).map(backupView);
    return { status: 200, body: { environment: { display_name: displayName, backups: items } } };
  },
} satisfies Partial<ResponseHandlers<World>>;
