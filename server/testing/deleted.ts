/** What was deleted as the subject of operations: its rows, a backup of each environment, and what became of it. */
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import type { EnvironmentToRestore, RestoreDeletedInput } from "../operations/backups/restoreDeleted.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import { backUp } from "../operations/steps/backup.ts";
import {
  keepDeletedEnvironments,
  reinsertEnvironment,
  restorableEnvironments,
} from "../store/backups/deletedEnvironments.ts";
import { keepDeletedSite, reinsertSite } from "../store/backups/deletedSites.ts";
import { recordActivity, systemActor } from "../store/company/activity.ts";
import type { DatabaseTransaction } from "../store/database.ts";
import { insertPrimaryDomain } from "../store/domains/domains.ts";
import { insertOperation } from "../store/operations.ts";
import { removeEnvironmentRows } from "../store/sites/environments.ts";
import { removeSiteRows } from "../store/sites/siteStates.ts";
import { visit } from "./edge.ts";
import { servedAnother } from "./environments.ts";
import { keptOf, liveSite } from "./sites.ts";
import type { World } from "./world.ts";

type LiveSite = Awaited<ReturnType<typeof liveSite>>;
type Place = EnvironmentRef & { readonly address: string };

const { signal } = new AbortController();

interface Known {
  readonly site: LiveSite;
  /** Those that are restored. */
  readonly places: readonly Place[];
}

const known = new WeakMap<OperationRequest, Known>();

async function fileOf({ services }: World, environment: EnvironmentRef): Promise<string> {
  const layout = await services.runtime.layout(environment);
  return join(layout?.documentRoot ?? "nowhere", "own.txt");
}

/** The row of the operation that deleted it. */
async function insertDeletion({ own }: World, { companyId, siteId }: LiveSite, operationId: string): Promise<void> {
  await own.database.transaction().execute(async (transaction) => {
    const category = "siteActions";
    const entry = { companyId, siteId, category, type: "deleteSite", parameters: {}, actor: systemActor } as const;
    const activityId = await recordActivity(transaction, entry);
    const ids = { id: operationId, companyId, siteId, environmentId: null, activityId, referenceId: randomUUID() };
    const facts = { kind: "deleteSite", state: "running", stepsTotal: 1, input: {}, secret: null } as const;
    await insertOperation(transaction, { ...ids, ...facts });
    await transaction.updateTable("operations").set({ state: "succeeded" }).where("id", "=", operationId).execute();
  });
}

/** Deletes these environments, each with a file of its own, and what else `remove` does. */
async function deleted(
  world: World,
  { site, places }: Known,
  remove: (transaction: DatabaseTransaction, operationId: string) => Promise<void>,
): Promise<void> {
  const { services, own } = world;
  const operationId = `sites:delete-${randomUUID()}`;
  await insertDeletion(world, site, operationId);
  for (const { address, ...environment } of places) {
    await writeFile(await fileOf(world, environment), `own of ${environment.id}`);
    const facts = { operationId, type: "system-generated", name: "Before the deletion", note: null } as const;
    await backUp(services, { environment, address, ...facts }, signal);
  }
  await own.database.transaction().execute((transaction) => remove(transaction, operationId));
  await services.publisher.publish();
  for (const environment of places) await services.runtime.destroy(environment);
}

/** What a request to restore it inserts. */
function reinsert(
  world: World,
  { siteId, companyId, name }: LiveSite,
  isSite: boolean,
): Promise<EnvironmentToRestore[]> {
  return world.own.database.transaction().execute(async (transaction) => {
    if (isSite) await reinsertSite(transaction, siteId, { name, displayName: name });
    const environments: EnvironmentToRestore[] = [];
    for (const environment of await restorableEnvironments(transaction, siteId, isSite)) {
      const { id, name: own, display_name: displayName, host, domain_id, is_wildcard: isWildcard } = environment;
      const number = await reinsertEnvironment(transaction, id, { name: own, displayName });
      if (number === null) throw new Error("The environment is there already");
      await insertPrimaryDomain(transaction, {
        id: domain_id,
        environmentId: id,
        siteId,
        companyId,
        name: host,
        isWildcard,
      });
      const address = `http://${host}:${world.facts.edgePort}`;
      environments.push({ environment: { id, number }, address, backupId: environment.backup_id });
    }
    return environments;
  });
}

async function requestFor(world: World, kind: Subject["kind"], facts: Known): Promise<OperationRequest> {
  const { siteId, companyId, name } = facts.site;
  const isSite = kind === "restoreDeletedSite";
  const input: RestoreDeletedInput = { siteId, isSite, environments: await reinsert(world, facts.site, isSite) };
  const locks = input.environments.map(({ environment }) => environment.id);
  const request: OperationRequest = {
    kind,
    companyId,
    siteId,
    environmentId: locks[0] ?? null,
    locks,
    input,
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: { siteName: name },
  };
  // Numbers are new.
  const places = input.environments.map(({ environment, address }) => ({ ...environment, address }));
  known.set(request, { site: facts.site, places });
  return request;
}

/** For the same once more, where it has failed: what a request inserts is gone then. */
export function askAgain(world: World, request: OperationRequest): Promise<OperationRequest> {
  const { kind } = request.kind === "restoreDeletedSite" ? restoringDeletedSite : restoringDeletedEnvironment;
  return requestFor(world, kind, factsOf(request));
}

interface Traces {
  readonly row: string | null;
  readonly status: number;
  readonly ownFile: string;
}

async function tracesOf(world: World, { id, number, address }: Place): Promise<Traces> {
  const row = world.own.database.selectFrom("environments").select("state").where("id", "=", id);
  return {
    row: (await row.executeTakeFirst())?.state ?? null,
    status: (await visit(world.facts.edgePort, address)).status,
    ownFile: await readFile(await fileOf(world, { id, number }), "utf8").catch(() => ""),
  };
}

async function differences(
  world: World,
  request: OperationRequest,
  wanted: (place: Place) => Traces,
  siteState: string | null,
): Promise<string[]> {
  const { site, places } = factsOf(request);
  const row = world.own.database.selectFrom("sites").select("state").where("id", "=", site.siteId);
  const found = { site: (await row.executeTakeFirst())?.state ?? null, places: [] as Traces[] };
  for (const place of places) found.places.push(await tracesOf(world, place));
  return isDeepStrictEqual(found, { site: siteState, places: places.map(wanted) })
    ? []
    : [`found ${JSON.stringify(found)}`];
}

function factsOf(request: OperationRequest): Known {
  const facts = known.get(request);
  if (!facts) throw new Error("This request was not prepared here");
  return facts;
}

const back = ({ id }: Place): Traces => ({ row: "serving", status: 200, ownFile: `own of ${id}` });
const gone = (): Traces => ({ row: null, status: 404, ownFile: "" });

/** A site with another environment. */
export const restoringDeletedSite: Subject = {
  kind: "restoreDeletedSite",
  prepare: async (world) => {
    const site = await liveSite(world);
    const places = [{ ...site.environment, address: site.address }, await servedAnother(world, site)];
    await deleted(world, { site, places }, async (transaction, operationId) => {
      await keepDeletedSite(transaction, site.siteId, { operationId, restorableDays: 14 });
      await removeSiteRows(transaction, site.siteId);
    });
    return requestFor(world, "restoreDeletedSite", { site, places });
  },
  finished: async (world, request) => [
    ...(await differences(world, request, back, "live")),
    ...(await keptOf(world, factsOf(request).site, { deletedSites: 0, deletedEnvironments: 0, backups: 2 })),
  ],
  cleanSlate: async (world, request) => [
    ...(await differences(world, request, gone, null)),
    ...(await keptOf(world, factsOf(request).site, { deletedSites: 1, deletedEnvironments: 2, backups: 2 })),
  ],
};

export const restoringDeletedEnvironment: Subject = {
  kind: "restoreDeletedEnvironment",
  prepare: async (world) => {
    const site = await liveSite(world);
    const place = await servedAnother(world, site);
    await deleted(world, { site, places: [place] }, async (transaction, operationId) => {
      await keepDeletedEnvironments(transaction, [place.id], { operationId, restorableDays: 14, wentWithSite: false });
      await removeEnvironmentRows(transaction, place.id);
    });
    return requestFor(world, "restoreDeletedEnvironment", { site, places: [place] });
  },
  finished: async (world, request) => [
    ...(await differences(world, request, back, "live")),
    ...(await keptOf(world, factsOf(request).site, { deletedSites: 0, deletedEnvironments: 0, backups: 1 })),
  ],
  cleanSlate: async (world, request) => [
    ...(await differences(world, request, gone, "live")),
    ...(await keptOf(world, factsOf(request).site, { deletedSites: 0, deletedEnvironments: 1, backups: 1 })),
  ],
};
