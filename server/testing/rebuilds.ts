/** Crash test subject for the rebuild of an environment after a restore on another machine, and checks. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import { systemActor } from "../store/company/activity.ts";
import { setAwaitsRebuild } from "../store/restoredInstallation.ts";
import { visit } from "./edge.ts";
import { backUpWith, type LiveSite } from "./installation.ts";
import { liveSite } from "./sites.ts";
import type { World } from "./world.ts";

const sites = new WeakMap<OperationRequest, LiveSite>();

/** Puts the environment into its state after a restore on another machine: no files, waiting for the rebuild. */
export async function takeAway({ services, own }: World, { environment }: LiveSite): Promise<void> {
  await setAwaitsRebuild(own.database, environment.id, true);
  await services.publisher.publish();
  await services.runtime.destroy(environment);
}

export function rebuildOf(site: LiveSite, backupId: number | null): OperationRequest {
  const { companyId, siteId, environment, address, name } = site;
  const request: OperationRequest = {
    kind: "rebuildEnvironment",
    companyId,
    siteId,
    environmentId: environment.id,
    locks: [environment.id],
    input: { environment, address, backupId },
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: { siteName: name },
  };
  sites.set(request, site);
  return request;
}

/** Returns the observable state of such an environment. */
export async function seen({ own, services, facts }: World, { environment, address }: LiveSite) {
  const row = await own.database
    .selectFrom("environments")
    .select(["state", "awaits_rebuild as awaitsRebuild"])
    .where("id", "=", environment.id)
    .executeTakeFirst();
  const layout = await services.runtime.layout(environment);
  return {
    ...row,
    ownFile: layout && (await readFile(join(layout.documentRoot, "own.txt"), "utf8")),
    status: (await visit(facts.edgePort, address)).status,
    work: await readdir(join(facts.dataFolder, "work")).catch(() => []),
  };
}

export const thereAgain = { state: "serving", awaitsRebuild: false, ownFile: "then", status: 200, work: [] };
export const stillAway = { state: "restoring", awaitsRebuild: true, ownFile: null, status: 503, work: [] };

async function differences(world: World, request: OperationRequest, wanted: object): Promise<string[]> {
  const site = sites.get(request);
  if (!site) throw new Error("This request was not prepared here");
  const found = await seen(world, site);
  return isDeepStrictEqual({ ...found }, { ...wanted })
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}

export const rebuildingEnvironment: Subject = {
  kind: "rebuildEnvironment",
  prepare: async (world) => {
    const site = await liveSite(world);
    await backUpWith(world, site, "then");
    await takeAway(world, site);
    return rebuildOf(site, null);
  },
  finished: (world, request) => differences(world, request, thereAgain),
  undone: (world, request) => differences(world, request, stillAway),
};
