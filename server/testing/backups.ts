/**
 * Crash test subjects for backups: a live site with a marker file, and checks of the file and of the site's backups.
 */
import { randomUUID } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import type { SomeParts } from "../operations/backups/restoreBackup.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import { backUp } from "../operations/steps/backup.ts";
import { findNewestBackup } from "../store/backups/backups.ts";
import { systemActor } from "../store/company/activity.ts";
import { visit } from "./edge.ts";
import { liveSite } from "./sites.ts";
import type { World } from "./world.ts";

type LiveSite = Awaited<ReturnType<typeof liveSite>>;

/** Live sites by environment id. */
const sites = new Map<string | null, LiveSite>();

function requestOn(
  site: LiveSite,
  kind: Subject["kind"],
  input: OperationRequest["input"],
  locks: readonly string[] = [site.environment.id],
): OperationRequest {
  const { companyId, siteId, environment, name } = site;
  const ids = { companyId, siteId, environmentId: environment.id, locks };
  const request = {
    kind,
    ...ids,
    input,
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: { siteName: name },
  } as const;
  sites.set(environment.id, site);
  return request;
}

async function fileOf({ services }: World, environment: EnvironmentRef): Promise<string> {
  const layout = await services.runtime.layout(environment);
  if (layout === null) throw new Error("The environment is gone");
  return join(layout.documentRoot, "own.txt");
}

/** Creates a live site whose marker file contains `then` in its backup and `now` on the site. */
export async function backedUpSite(world: World) {
  const site = await liveSite(world);
  const { environment, address } = site;
  const file = await fileOf(world, environment);
  await writeFile(file, "then");
  const backUpRequest = {
    environment,
    address,
    operationId: randomUUID(),
    type: "manual",
    name: "Then",
    note: null,
  } as const;
  await backUp(world.services, backUpRequest, new AbortController().signal);
  await writeFile(file, "now");
  const backup = await findNewestBackup(world.own.database, environment.id);
  if (backup === null) throw new Error("There is no backup");
  return { site, backup };
}

interface Outcome {
  readonly ownFile: string;
  readonly backups: number;
}

async function differences(world: World, request: OperationRequest, outcome: Outcome): Promise<string[]> {
  const site = sites.get(request.environmentId);
  if (!site) throw new Error("This request was not prepared here");
  const { id } = site.environment;
  const { database } = world.own;
  const row = database.selectFrom("environments").select("is_frozen").where("id", "=", id);
  const backups = await database.selectFrom("backups").select("manifest").where("environment_id", "=", id).execute();
  const found = {
    isFrozen: (await row.executeTakeFirst())?.is_frozen,
    ownFile: await readFile(await fileOf(world, site.environment), "utf8").catch(() => ""),
    status: (await visit(world.facts.edgePort, site.address)).status,
    backups: backups.filter(({ manifest }) => manifest !== null).length,
    unfinished: backups.filter(({ manifest }) => manifest === null).length,
    work: await readdir(join(world.facts.dataFolder, "work")).catch(() => []),
  };
  const wanted = { ...outcome, isFrozen: false, status: 200, unfinished: 0, work: [] };
  return isDeepStrictEqual({ ...found }, { ...wanted })
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}

export const backingUp: Subject = {
  kind: "addManualBackup",
  prepare: async (world) => {
    const site = await liveSite(world);
    await writeFile(await fileOf(world, site.environment), "now");
    return requestOn(site, "addManualBackup", { environment: site.environment, address: site.address, note: "Tag" });
  },
  finished: (world, request) => differences(world, request, { ownFile: "now", backups: 1 }),
  undone: (world, request) => differences(world, request, { ownFile: "now", backups: 0 }),
};

export const backingUpOnSchedule: Subject = {
  kind: "addScheduledBackup",
  prepare: async (world) => {
    const site = await liveSite(world);
    await writeFile(await fileOf(world, site.environment), "now");
    const input = { environment: site.environment, address: site.address, isRetry: false, againAfter: 60_000 };
    return requestOn(site, "addScheduledBackup", input, []);
  },
  finished: async (world, request) => [
    ...(await differences(world, request, { ownFile: "now", backups: 1 })),
    ...(await failuresAre(world, request, 0)),
  ],
  undone: async (world, request) => [
    ...(await differences(world, request, { ownFile: "now", backups: 0 })),
    ...(await failuresAre(world, request, 1)),
  ],
};

/** Checks how often the scheduled backup has failed. Returns the problems as sentences. */
async function failuresAre({ own }: World, { environmentId }: OperationRequest, wanted: number): Promise<string[]> {
  const row = own.database.selectFrom("environments").select("backup_failures").where("id", "=", environmentId);
  const found = (await row.executeTakeFirst())?.backup_failures;
  return found === wanted ? [] : [`${found} failures were counted instead of ${wanted}`];
}

export const removingBackup: Subject = {
  kind: "removeBackup",
  prepare: async (world) => {
    const { site, backup } = await backedUpSite(world);
    return requestOn(site, "removeBackup", { backupId: backup.id });
  },
  finished: (world, request) => differences(world, request, { ownFile: "now", backups: 0 }),
  undone: (world, request) => differences(world, request, { ownFile: "now", backups: 1 }),
};

async function prepareRestore(world: World, withoutBackup: boolean, some?: SomeParts): Promise<OperationRequest> {
  const { site, backup } = await backedUpSite(world);
  const { environment: target, address } = site;
  const restored = { backupId: backup.id, backupName: "Then", only: null, withoutBackup, ...(some && { some }) };
  const input = { token: randomUUID(), target, address, ...restored };
  return requestOn(site, "restoreBackup", input);
}

export const restoringBackup: Subject = {
  kind: "restoreBackup",
  prepare: (world) => prepareRestore(world, false),
  finished: (world, request) => differences(world, request, { ownFile: "then", backups: 2 }),
  undone: (world, request) => differences(world, request, { ownFile: "now", backups: 1 }),
};

/** Restores one file, for which the site's own other files are copied. */
export const restoringFile: Subject = {
  kind: "restoreBackup",
  prepare: (world) => prepareRestore(world, false, { files: ["own.txt"], database: "none" }),
  finished: restoringBackup.finished,
  undone: restoringBackup.undone,
};

/** Previews a restore. The environment stays as it is, whether the preview succeeds or fails. */
export const comparingRestore: Subject = {
  kind: "compareRestore",
  prepare: async (world) => {
    const { site, backup } = await backedUpSite(world);
    const { environment: target, address } = site;
    return requestOn(site, "compareRestore", { backupId: backup.id, target, address, only: null });
  },
  finished: (world, request) => differences(world, request, { ownFile: "now", backups: 1 }),
  undone: (world, request) => differences(world, request, { ownFile: "now", backups: 1 }),
};

export const restoringWithoutBackup: Subject = {
  kind: "restoreBackup",
  prepare: (world) => prepareRestore(world, true),
  finished: (world, request) => differences(world, request, { ownFile: "then", backups: 1 }),
  undone: restoringBackup.undone,
};
