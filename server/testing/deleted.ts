/**
 * Crash test subjects for restoring deleted sites and environments: their rows, a backup of each environment, and
 * checks.
 */
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
import { addServedEnvironment } from "./environments.ts";
import { checkKept, liveSite } from "./sites.ts";
import type { World } from "./world.ts";

type LiveSite = Awaited<ReturnType<typeof liveSite>>;
type AddressedEnvironment = EnvironmentRef & { readonly address: string };

const { signal } = new AbortController();

interface Known {
  readonly site: LiveSite;
  /** The environments that are restored. */
  readonly restored: readonly AddressedEnvironment[];
}

const known = new WeakMap<OperationRequest, Known>();

async function fileOf({ services }: World, environment: EnvironmentRef): Promise<string> {
  const layout = await services.runtime.layout(environment);
  return join(layout?.documentRoot ?? "nowhere", "own.txt");
}

/** Inserts the row of the operation that deleted the site or environment. */
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

/** Deletes these environments, after backing up each with a marker file, and then calls `remove`. */
async function deleted(
  world: World,
  { site, restored }: Known,
  remove: (transaction: DatabaseTransaction, operationId: string) => Promise<void>,
): Promise<void> {
  const { services, own } = world;
  const operationId = `sites:delete-${randomUUID()}`;
  await insertDeletion(world, site, operationId);
  for (const { address, ...environment } of restored) {
    await writeFile(await fileOf(world, environment), `own of ${environment.id}`);
    const facts = { operationId, type: "system-generated", name: "Before the deletion", note: null } as const;
    await backUp(services, { environment, address, ...facts }, signal);
  }
  await own.database.transaction().execute((transaction) => remove(transaction, operationId));
  await services.publisher.publish();
  for (const environment of restored) await services.runtime.destroy(environment);
}

/** Inserts the rows that the API inserts when it accepts the request to restore. */
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
      if (number === null) throw new Error("The environment already exists");
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
  // The environments have new numbers.
  const restored = input.environments.map(({ environment, address }) => ({ ...environment, address }));
  known.set(request, { site: facts.site, restored });
  return request;
}

/** Returns a request to restore the same again after a failure, which has removed the inserted rows. */
export function askAgain(world: World, request: OperationRequest): Promise<OperationRequest> {
  const { kind } = request.kind === "restoreDeletedSite" ? restoringDeletedSite : restoringDeletedEnvironment;
  return requestFor(world, kind, factsOf(request));
}

interface Traces {
  readonly row: string | null;
  readonly status: number;
  readonly ownFile: string;
}

async function tracesOf(world: World, { id, number, address }: AddressedEnvironment): Promise<Traces> {
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
  wanted: (environment: AddressedEnvironment) => Traces,
  siteState: string | null,
): Promise<string[]> {
  const { site, restored } = factsOf(request);
  const row = world.own.database.selectFrom("sites").select("state").where("id", "=", site.siteId);
  const found = { site: (await row.executeTakeFirst())?.state ?? null, restored: [] as Traces[] };
  for (const environment of restored) found.restored.push(await tracesOf(world, environment));
  return isDeepStrictEqual(found, { site: siteState, restored: restored.map(wanted) })
    ? []
    : [`found ${JSON.stringify(found)}`];
}

function factsOf(request: OperationRequest): Known {
  const facts = known.get(request);
  if (!facts) throw new Error("This request was not prepared here");
  return facts;
}

const back = ({ id }: AddressedEnvironment): Traces => ({ row: "serving", status: 200, ownFile: `own of ${id}` });
const gone = (): Traces => ({ row: null, status: 404, ownFile: "" });

/** A deleted site with two environments. */
export const restoringDeletedSite: Subject = {
  kind: "restoreDeletedSite",
  prepare: async (world) => {
    const site = await liveSite(world);
    const restored = [{ ...site.environment, address: site.address }, await addServedEnvironment(world, site)];
    await deleted(world, { site, restored }, async (transaction, operationId) => {
      await keepDeletedSite(transaction, site.siteId, { operationId, restorableDays: 14 });
      await removeSiteRows(transaction, site.siteId);
    });
    return requestFor(world, "restoreDeletedSite", { site, restored });
  },
  finished: async (world, request) => [
    ...(await differences(world, request, back, "live")),
    ...(await checkKept(world, factsOf(request).site, { deletedSites: 0, deletedEnvironments: 0, backups: 2 })),
  ],
  undone: async (world, request) => [
    ...(await differences(world, request, gone, null)),
    ...(await checkKept(world, factsOf(request).site, { deletedSites: 1, deletedEnvironments: 2, backups: 2 })),
  ],
};

export const restoringDeletedEnvironment: Subject = {
  kind: "restoreDeletedEnvironment",
  prepare: async (world) => {
    const site = await liveSite(world);
    const environment = await addServedEnvironment(world, site);
    await deleted(world, { site, restored: [environment] }, async (transaction, operationId) => {
      await keepDeletedEnvironments(transaction, [environment.id], {
        operationId,
        restorableDays: 14,
        wentWithSite: false,
      });
      await removeEnvironmentRows(transaction, environment.id);
    });
    return requestFor(world, "restoreDeletedEnvironment", { site, restored: [environment] });
  },
  finished: async (world, request) => [
    ...(await differences(world, request, back, "live")),
    ...(await checkKept(world, factsOf(request).site, { deletedSites: 0, deletedEnvironments: 0, backups: 1 })),
  ],
  undone: async (world, request) => [
    ...(await differences(world, request, gone, "live")),
    ...(await checkKept(world, factsOf(request).site, { deletedSites: 0, deletedEnvironments: 1, backups: 1 })),
  ],
};
