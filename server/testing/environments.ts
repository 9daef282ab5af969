/** Crash test subjects for environments: a live site with everything that the operation needs, and checks. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { EdgeTable } from "@sitewright/edge/tables/table.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import type { CreateEnvironmentInput, NewContent } from "../operations/sites/createEnvironment.ts";
import type { DeleteEnvironmentInput } from "../operations/sites/deleteEnvironment.ts";
import type { PushInput, PushPart } from "../operations/sites/pushEnvironment.ts";
import { tableFile } from "../publishing/publishRoutes.ts";
import { systemActor } from "../store/company/activity.ts";
import type { Database } from "../store/database.ts";
import { insertPrimaryDomain } from "../store/domains/domains.ts";
import { findPhp } from "../store/sites/environmentStates.ts";
import { insertEnvironment } from "../store/sites/environments.ts";
import { type OwnLimits, ownLimits } from "../store/sites/limits.ts";
import { setEnvironmentState } from "../store/traffic/routes.ts";
import { visit } from "./edge.ts";
import { checkPassword } from "./password.ts";
import { checkKept, digest, liveSite } from "./sites.ts";
import type { World } from "./world.ts";

const common = { whenBusy: "fail", actor: systemActor, activityParameters: { siteName: "Test" } } as const;

/** What the checks need to know about a request in addition to its input. */
interface Notes {
  readonly site: LiveSite;
  readonly environment: Placed;
}

type LiveSite = Awaited<ReturnType<typeof liveSite>>;

interface Placed {
  readonly id: string;
  readonly number: number;
  readonly address: string;
}

const notes = new WeakMap<OperationRequest, Notes>();

function remember(request: OperationRequest, known: Notes): OperationRequest {
  notes.set(request, known);
  return request;
}

/** Returns the data prepared for the request. */
export function notesOf(request: OperationRequest): Notes {
  const known = notes.get(request);
  if (!known) throw new Error("This request was not prepared here");
  return known;
}

/** Inserts the rows of another environment of the site, which is still being created. */
async function insertAnother({ own: { database }, facts }: World, site: LiveSite): Promise<Placed> {
  const id = randomUUID();
  const name = `e-${id.slice(0, 8)}`;
  const ids = { siteId: site.siteId, companyId: site.companyId };
  const host = `${name}.localhost`;
  const number = await database.transaction().execute(async (transaction) => {
    const php = { runtime: "playground", phpVersion: "8.3", containerId: randomUUID() };
    const row = { id, ...ids, name, displayName: name, isPremium: false, ...php };
    const inserted = await insertEnvironment(transaction, row);
    await insertPrimaryDomain(transaction, {
      id: randomUUID(),
      environmentId: id,
      ...ids,
      name: host,
      isWildcard: false,
    });
    return inserted;
  });
  if (number === null) throw new Error("The site already has that environment");
  return { id, number, address: `http://${host}:${facts.edgePort}` };
}

/** Creates another environment of the site, with its own title, and serves it. */
export async function addServedEnvironment(world: World, site: LiveSite): Promise<Placed> {
  const placed = await insertAnother(world, site);
  await world.services.runtime.provision({
    environment: { id: placed.id, number: placed.number },
    phpVersion: "8.3",
    wordpress: {
      address: placed.address,
      title: titleOf(placed),
      adminUser: "ada",
      adminEmail: "ada@example.com",
      locale: "en_US",
      multisite: null,
      adminPasswordDigest: digest,
    },
  });
  await setEnvironmentState(world.own.database, [placed.id], "serving");
  await world.services.publisher.publish();
  return placed;
}

export const titleOf = ({ id }: Placed) => `Title ${id.slice(0, 8)}`;

function requestOn(site: LiveSite, environment: Placed) {
  return { ...common, companyId: site.companyId, siteId: site.siteId, environmentId: environment.id };
}

function adding(kind: "addEnvironment" | "addPlainEnvironment" | "cloneEnvironment"): Subject {
  return {
    kind,
    prepare: async (world) => {
      const site = await liveSite(world);
      const environment = await insertAnother(world, site);
      const { id, number, address } = environment;
      const input: CreateEnvironmentInput = {
        siteId: site.siteId,
        isNewSite: false,
        environment: { id, number },
        phpVersion: "8.3",
        address,
        content: contentOf(kind, site),
      };
      const locks = kind === "cloneEnvironment" ? [id, site.environment.id] : [id];
      const secret = kind === "addEnvironment" ? { secret: digest } : {};
      return remember({ ...requestOn(site, environment), ...secret, kind, locks, input }, { site, environment });
    },
    finished: async (world, request) => [
      ...(await differences(world, request, { row: "serving", isOnDisk: true, status: 200 })),
      ...(kind === "addEnvironment" ? await checkPassword(world, notesOf(request).environment) : []),
    ],
    undone: (world, request) => differences(world, request, { row: null, isOnDisk: false, status: 404 }),
  };
}

function contentOf(kind: string, site: LiveSite): NewContent {
  if (kind === "addPlainEnvironment") return { kind: "plain" };
  if (kind === "cloneEnvironment") {
    return { kind: "clone", source: site.environment, sourceAddress: site.address };
  }
  return {
    kind: "wordpress",
    title: "Another",
    adminUser: "ada",
    adminEmail: "ada@example.com",
    locale: "en_US",
    multisite: null,
  };
}

export const addingEnvironment = adding("addEnvironment");
export const addingPlainEnvironment = adding("addPlainEnvironment");
export const cloningEnvironment = adding("cloneEnvironment");

export const deletingEnvironment: Subject = {
  kind: "deleteEnvironment",
  prepare: async (world) => {
    const site = await liveSite(world);
    const environment = await addServedEnvironment(world, site);
    const { id } = environment;
    const input: DeleteEnvironmentInput = { environment, isLive: false, withoutBackup: false };
    const request = { ...requestOn(site, environment), kind: "deleteEnvironment", locks: [id], input } as const;
    return remember(request, { site, environment });
  },
  finished: async (world, request) => [
    ...(await differences(world, request, { row: null, isOnDisk: false, status: 404 })),
    ...(await checkKept(world, notesOf(request).site, { deletedSites: 0, deletedEnvironments: 1, backups: 1 })),
  ],
  undone: async (world, request) => [
    ...(await differences(world, request, { row: "serving", isOnDisk: true, status: 200 })),
    ...(await checkKept(world, notesOf(request).site, { deletedSites: 0, deletedEnvironments: 0, backups: 0 })),
  ],
};

export const modifyingPhpVersion: Subject = {
  kind: "modifyPhpVersion",
  prepare: async (world) => {
    const site = await liveSite(world);
    const environment = { ...site.environment, address: site.address };
    const input = { environment: site.environment, to: "8.4", address: site.address, isOptOut: true, onlyFrom: null };
    const request = { ...requestOn(site, environment), kind: "modifyPhpVersion", input } as const;
    return remember({ ...request, locks: [environment.id] }, { site, environment });
  },
  finished: (world, request) => phpIs(world, request, { php_version: "8.4", isOptOut: true, backups: 1 }),
  undone: (world, request) => phpIs(world, request, { php_version: "8.3", isOptOut: false, backups: 0 }),
};

/** Moves an environment from the playground to another runtime, with another PHP version. */
export function changingRuntime(runtime: string, phpVersion = "8.4"): Subject {
  return {
    kind: "changeRuntime",
    prepare: async (world) => {
      const site = await liveSite(world);
      const environment = { ...site.environment, address: site.address };
      const input = { environment: site.environment, runtime, phpVersion, address: site.address };
      const request = { ...requestOn(site, environment), kind: "changeRuntime", input } as const;
      return remember({ ...request, locks: [environment.id] }, { site, environment });
    },
    finished: (world, request) => runtimeIs(world, request, { runtime, php_version: phpVersion, backups: 1 }),
    undone: (world, request) => runtimeIs(world, request, { runtime: "playground", php_version: "8.3", backups: 0 }),
  };
}

export const restartingPhp: Subject = {
  kind: "restartPhp",
  prepare: async (world) => {
    const site = await liveSite(world);
    const environment = { ...site.environment, address: site.address };
    const input = { environmentId: environment.id, run: 7 };
    const request = { ...requestOn(site, environment), kind: "restartPhp", locks: [environment.id], input } as const;
    return remember(request, { site, environment });
  },
  finished: (world, request) => phpIs(world, request, { php_version: "8.3", isOptOut: false, backups: 0 }),
  undone: (world, request) => phpIs(world, request, { php_version: "8.3", isOptOut: false, backups: 0 }),
};

/** Clears all cached pages of an environment, or only `url` and the addresses below it. */
export function clearingCache(kind: "clearCache" | "clearEdgeCache", url: string | null): Subject {
  return {
    kind,
    prepare: async (world) => {
      const site = await liveSite(world);
      const environment = { ...site.environment, address: site.address };
      const input = { environmentId: environment.id, url, isSubtree: true };
      return remember({ ...requestOn(site, environment), kind, locks: [], input }, { site, environment });
    },
    finished: (world, request) => cacheIs(world, request, { isOn: true, isCleared: url === null }),
    undone: (world, request) => cacheIs(world, request, { isOn: true, isCleared: null }),
  };
}

export const switchingCacheOff: Subject = {
  kind: "updateEdgeCacheStatus",
  prepare: async (world) => {
    const site = await liveSite(world);
    const environment = { ...site.environment, address: site.address };
    const input = { environmentId: environment.id, isEnabled: false, before: null };
    return remember(
      { ...requestOn(site, environment), kind: "updateEdgeCacheStatus", locks: [], input },
      { site, environment },
    );
  },
  finished: (world, request) => cacheIs(world, request, { isOn: false, isCleared: null }),
  undone: (world, request) => cacheIs(world, request, { isOn: true, isCleared: null }),
};

/** Checks the page cache in the table that the edge reads at startup. `isCleared` is null if it does not matter. */
async function cacheIs(
  { facts }: World,
  request: OperationRequest,
  wanted: { readonly isOn: boolean; readonly isCleared: boolean | null },
): Promise<string[]> {
  const table: EdgeTable = JSON.parse(await readFile(tableFile(facts.dataFolder), "utf8"));
  const cache = table.environments.find(({ id }) => id === request.environmentId)?.pageCache;
  const isCleared = (cache?.epoch ?? 0) > 1;
  return [
    ...((cache !== undefined) === wanted.isOn ? [] : [`the page cache is ${cache ? "on" : "off"}`]),
    ...(wanted.isCleared === null || isCleared === wanted.isCleared ? [] : [`the cache epoch is ${cache?.epoch}`]),
  ];
}

/**
 * Changes an environment's limits from two workers with 256 MB to three with 128 MB. The site has another environment.
 */
export function changingLimits(kind: "changeEnvironmentPhpAllocation" | "changeSitePhpAllocation"): Subject {
  const before = { php_threads: 2, php_memory_mb: 256, request_seconds: null, disk_quota_bytes: null };
  const changes = { php_threads: 3, php_memory_mb: 128 };
  return {
    kind,
    prepare: async (world) => {
      const site = await liveSite(world);
      const other = await addServedEnvironment(world, site);
      const environment = { ...site.environment, address: site.address };
      const locks = kind === "changeSitePhpAllocation" ? [environment.id, other.id] : [environment.id];
      const input = { environmentIds: locks, changes };
      const request = { ...requestOn(site, environment), kind, locks, input } as const;
      return remember(request, { site, environment });
    },
    finished: (world, request) => limitsAre(world, request, { ...before, ...changes }),
    undone: (world, request) => limitsAre(world, request, before),
  };
}

/** Checks the limits in the database and in the table that the edge reads at startup. */
async function limitsAre({ own, facts }: World, request: OperationRequest, wanted: OwnLimits): Promise<string[]> {
  const table: EdgeTable = JSON.parse(await readFile(tableFile(facts.dataFolder), "utf8"));
  const found = await ownLimits(own.database, request.locks);
  const { php_threads: threads, php_memory_mb: memoryMb, request_seconds: requestSeconds } = wanted;
  return found.flatMap(({ id, ...limits }) => [
    ...compare(wanted, limits),
    ...compare(
      { threads, companyThreads: null, memoryMb, requestSeconds, disk: null },
      table.environments.find((environment) => environment.id === id)?.limits ?? {},
    ),
  ]);
}

/** Previews a push. The live environment stays as it is, whether the preview succeeds or fails. */
export const comparing: Subject = {
  ...pushing("all", "all"),
  kind: "comparePush",
  prepare: async (world) => {
    const request = await pushing("all", "all").prepare(world);
    return remember({ ...request, kind: "comparePush" }, notesOf(request));
  },
  finished: (world, request) => pushed(world, request, { title: notesOf(request).site.name, backups: 0 }),
};

/** Pushes another environment to the live one. */
export function pushing(files: PushPart, database: PushPart): Subject {
  return {
    kind: "pushEnvironment",
    prepare: async (world) => {
      const site = await liveSite(world);
      const source = await addServedEnvironment(world, site);
      const environment = { ...site.environment, address: site.address };
      const input: PushInput = {
        token: randomUUID(),
        source: { id: source.id, number: source.number },
        target: site.environment,
        address: site.address,
        files,
        database,
        addresses: [{ from: source.address, to: site.address }],
        sourceName: "Staging",
      };
      const locks = [source.id, environment.id];
      const request = { ...requestOn(site, environment), kind: "pushEnvironment", locks, input } as const;
      return remember(request, { site, environment: source });
    },
    finished: async (world, request) => {
      const { environment: source } = notesOf(request);
      return pushed(world, request, { title: titleOf(source), backups: 1 });
    },
    undone: (world, request) => pushed(world, request, { title: notesOf(request).site.name, backups: 0 }),
  };
}

async function pushed(
  world: World,
  request: OperationRequest,
  wanted: { readonly title: string; readonly backups: number },
): Promise<string[]> {
  const { own, facts } = world;
  const { site } = notesOf(request);
  const row = await own.database
    .selectFrom("environments")
    .select("is_frozen")
    .where("id", "=", site.environment.id)
    .executeTakeFirst();
  const { body } = await visit(facts.edgePort, site.address);
  const found = {
    isFrozen: row?.is_frozen,
    title: /<title>(.*?)<\/title>/.exec(body)?.[1],
    ...(await backupsOf(own.database, site.environment.id)),
  };
  return compare({ isFrozen: false, ...wanted, unfinished: 0 }, found);
}

async function backupsOf(database: Database, environmentId: string) {
  const rows = await database
    .selectFrom("backups")
    .select("manifest")
    .where("environment_id", "=", environmentId)
    .execute();
  const finished = rows.filter(({ manifest }) => manifest !== null).length;
  return { backups: finished, unfinished: rows.length - finished };
}

/** Returns the temporary folders that operations have left behind. */
function workIn({ dataFolder }: World["facts"]): Promise<readonly string[]> {
  return readdir(join(dataFolder, "work")).catch(() => []);
}

interface Traces {
  readonly row: string | null;
  readonly isOnDisk: boolean;
  readonly status: number;
}

async function differences(world: World, request: OperationRequest, wanted: Traces): Promise<string[]> {
  const { own, services, facts } = world;
  const { environment, site } = notesOf(request);
  const row = await own.database
    .selectFrom("environments")
    .select("state")
    .where("id", "=", environment.id)
    .executeTakeFirst();
  const found: Traces = {
    row: row?.state ?? null,
    isOnDisk: (await services.runtime.layout(environment)) !== null,
    status: (await visit(facts.edgePort, environment.address)).status,
  };
  const live = (await visit(facts.edgePort, site.address)).status;
  return [...compare(wanted, found), ...(live === 200 ? [] : [`the live environment responds with ${live}`])];
}

async function phpIs(
  { own, facts }: World,
  request: OperationRequest,
  wanted: { readonly php_version: string; readonly isOptOut: boolean; readonly backups: number },
): Promise<string[]> {
  const { environment } = notesOf(request);
  const found = await own.database
    .selectFrom("environments")
    .select(["php_version", "is_opt_out_from_automatic_php_update as isOptOut"])
    .where("id", "=", environment.id)
    .executeTakeFirst();
  const { status } = await visit(facts.edgePort, environment.address);
  const kept = { ...(await backupsOf(own.database, environment.id)), work: await workIn(facts) };
  const differs = compare({ ...wanted, unfinished: 0, work: [] }, { ...found, ...kept });
  return [...differs, ...(status === 200 ? [] : [`the environment responds with ${status}`])];
}

/** Checks the runtime in the database and in the table that the edge reads at startup. */
async function runtimeIs(
  world: World,
  request: OperationRequest,
  {
    runtime,
    php_version,
    backups,
  }: { readonly runtime: string; readonly php_version: string; readonly backups: number },
): Promise<string[]> {
  const table: EdgeTable = JSON.parse(await readFile(tableFile(world.facts.dataFolder), "utf8"));
  const served = table.environments.find(({ id }) => id === request.environmentId);
  const php = await findPhp(world.own.database, notesOf(request).environment.id);
  return [
    ...(await phpIs(world, request, { php_version, isOptOut: false, backups })),
    ...compare({ runtime, phpVersion: php_version }, { runtime: served?.runtime, phpVersion: served?.phpVersion }),
    ...compare({ runtime }, { runtime: php?.runtime }),
  ];
}

function compare(wanted: object, found: object): string[] {
  const sorted = (value: object) => JSON.stringify(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(wanted) === sorted(found)
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}
