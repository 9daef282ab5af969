/** Crash test subjects for sites: rows as the API inserts them, and checks. */
import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { MultisiteKind, WordPressInstall } from "@sitewright/runtimes/runtime.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import type { CreateEnvironmentInput, NewWordPress } from "../operations/sites/createEnvironment.ts";
import type { DeleteSiteInput } from "../operations/sites/deleteSite.ts";
import { systemActor } from "../store/company/activity.ts";
import { setSiteState } from "../store/sites/siteStates.ts";
import { setEnvironmentState } from "../store/traffic/routes.ts";
import { visit } from "./edge.ts";
import { insertTestCompany } from "./engine.ts";
import { checkPassword } from "./password.ts";
import type { World } from "./world.ts";

/** Input for a new site with WordPress. */
export type NewSiteInput = CreateEnvironmentInput & { readonly content: NewWordPress };

/** A digest that matches no password. */
export const digest = "A".repeat(64);

/** Inserts the rows of a new site. Returns the input of the operation that creates it. */
export async function insertNewSite({ own: { database }, facts }: World, multisite: MultisiteKind | null = null) {
  const companyId = await insertTestCompany(database);
  const siteId = randomUUID();
  const environmentId = randomUUID();
  const name = `s-${siteId.slice(0, 8)}`;
  const row = { company_id: companyId, created_at: new Date() };
  await database
    .insertInto("sites")
    .values({ ...row, id: siteId, name, display_name: name, region: "europe-west3", state: "adding" })
    .execute();
  const { number } = await database
    .insertInto("environments")
    .values({
      ...row,
      id: environmentId,
      site_id: siteId,
      name: "live",
      display_name: "Live",
      php_version: "8.3",
      state: "adding",
      container_id: randomUUID(),
    })
    .returning("number")
    .executeTakeFirstOrThrow();
  await database
    .insertInto("domains")
    .values({
      ...row,
      id: randomUUID(),
      environment_id: environmentId,
      site_id: siteId,
      name: `${name}.localhost`,
      is_primary: true,
      is_wildcard: multisite === "subdomain",
    })
    .execute();
  const input: NewSiteInput = {
    siteId,
    isNewSite: true,
    environment: { id: environmentId, number },
    phpVersion: "8.3",
    address: `http://${name}.localhost:${facts.edgePort}`,
    content: {
      kind: "wordpress",
      title: name,
      adminUser: "ada",
      adminEmail: "ada@example.com",
      locale: "en_US",
      multisite,
    },
  };
  return { companyId, input };
}

/** Inputs by request, for the checks. */
const inputs = new WeakMap<OperationRequest, NewSiteInput>();

function remember(request: OperationRequest, input: NewSiteInput): OperationRequest {
  inputs.set(request, input);
  return request;
}

function inputOf(request: OperationRequest): NewSiteInput {
  const input = inputs.get(request);
  if (!input) throw new Error("This request was not prepared here");
  return input;
}

const common = { whenBusy: "fail", actor: systemActor, activityParameters: { siteName: "Test" } } as const;

export const creatingSite: Subject = {
  kind: "addSite",
  prepare: async (world) => {
    const { companyId, input } = await insertNewSite(world);
    const ids = { companyId, siteId: input.siteId, environmentId: input.environment.id };
    const locks = [input.environment.id];
    return remember({ ...common, ...ids, kind: "addSite", locks, input, secret: digest }, input);
  },
  finished: async (world, request) => [
    ...(await exists(world, inputOf(request))),
    ...(await checkPassword(world, inputOf(request).environment)),
  ],
  undone: (world, request) => isGone(world, inputOf(request)),
};

/** Creates a site without WordPress. */
export const creatingPlainSite: Subject = {
  kind: "addPlainSite",
  prepare: async (world) => {
    const { companyId, input } = await insertNewSite(world);
    const { siteId, environment, phpVersion, address } = input;
    const plain: CreateEnvironmentInput = {
      siteId,
      isNewSite: true,
      environment,
      phpVersion,
      address,
      content: { kind: "plain" },
    };
    const ids = { companyId, siteId, environmentId: environment.id };
    return remember({ ...common, ...ids, kind: "addPlainSite", locks: [environment.id], input: plain }, input);
  },
  finished: (world, request) => exists(world, inputOf(request)),
  undone: (world, request) => isGone(world, inputOf(request)),
};

export const deletingSite: Subject = {
  kind: "deleteSite",
  prepare: async (world) => {
    const { companyId, input } = await insertNewSite(world);
    await makeLive(world, input);
    const { siteId, environment, address } = input;
    const locks = [environment.id];
    const request = { ...common, companyId, siteId, environmentId: environment.id, locks } as const;
    const environments = [{ ...environment, address }];
    const deletion: DeleteSiteInput = { siteId, environments, withoutBackup: false };
    return remember({ ...request, kind: "deleteSite", input: deletion }, input);
  },
  finished: async (world, request) => [
    ...(await isGone(world, inputOf(request))),
    ...(await checkKept(world, inputOf(request), { deletedSites: 1, deletedEnvironments: 1, backups: 1 })),
  ],
  undone: async (world, request) => [
    ...(await exists(world, inputOf(request))),
    ...(await checkKept(world, inputOf(request), { deletedSites: 0, deletedEnvironments: 0, backups: 0 })),
  ],
};

interface Kept {
  readonly deletedSites: number;
  readonly deletedEnvironments: number;
  readonly backups: number;
}

/** Checks what the site could be restored from, and that no unfinished backup or temporary folder is left. */
export async function checkKept(
  { own: { database }, facts }: World,
  { siteId }: Pick<NewSiteInput, "siteId">,
  wanted: Kept,
): Promise<string[]> {
  const sites = await database.selectFrom("deleted_sites").select("id").where("id", "=", siteId).execute();
  const ofSite = database.selectFrom("deleted_environments").select("id").where("site_id", "=", siteId);
  const backups = await database.selectFrom("backups").select("manifest").where("site_id", "=", siteId).execute();
  const found = {
    deletedSites: sites.length,
    deletedEnvironments: (await ofSite.execute()).length,
    backups: backups.filter(({ manifest }) => manifest !== null).length,
    unfinished: backups.filter(({ manifest }) => manifest === null).length,
    work: await readdir(join(facts.dataFolder, "work")).catch(() => []),
  };
  return isDeepStrictEqual(found, { ...wanted, unfinished: 0, work: [] })
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}

/** Creates a live site that responds at its address, with its name as its title. */
export async function liveSite(world: World, multisite: MultisiteKind | null = null) {
  const { companyId, input } = await insertNewSite(world, multisite);
  await makeLive(world, input);
  const { siteId, environment, address, content } = input;
  return { companyId, siteId, environment, address, name: content.title };
}

async function makeLive({ services, own: { database } }: World, input: NewSiteInput): Promise<void> {
  await services.runtime.provision({
    environment: input.environment,
    phpVersion: input.phpVersion,
    wordpress: installOf(input),
  });
  await setEnvironmentState(database, [input.environment.id], "serving");
  await setSiteState(database, input.siteId, "live");
  await services.publisher.publish();
}

/** Returns the WordPress that the operation would install. */
export function installOf({ address, content: { kind: _, ...wordpress } }: NewSiteInput): WordPressInstall {
  return { ...wordpress, address, adminPasswordDigest: digest };
}

interface Traces {
  readonly siteState: string | null;
  readonly environmentState: string | null;
  readonly domains: number;
  readonly isOnDisk: boolean;
  readonly status: number;
}

async function tracesOf({ own: { database }, services, facts }: World, input: NewSiteInput): Promise<Traces> {
  const { siteId, environment, address } = input;
  const site = await database.selectFrom("sites").select("state").where("id", "=", siteId).executeTakeFirst();
  const row = await database
    .selectFrom("environments")
    .select("state")
    .where("id", "=", environment.id)
    .executeTakeFirst();
  const domains = await database.selectFrom("domains").select("id").where("site_id", "=", siteId).execute();
  return {
    siteState: site?.state ?? null,
    environmentState: row?.state ?? null,
    domains: domains.length,
    isOnDisk: (await services.runtime.layout(environment)) !== null,
    status: (await visit(facts.edgePort, address)).status,
  };
}

async function exists(world: World, input: NewSiteInput): Promise<string[]> {
  const wanted = { siteState: "live", environmentState: "serving", domains: 1, isOnDisk: true, status: 200 };
  return differences(wanted, await tracesOf(world, input));
}

async function isGone(world: World, input: NewSiteInput): Promise<string[]> {
  const wanted = { siteState: null, environmentState: null, domains: 0, isOnDisk: false, status: 404 };
  return differences(wanted, await tracesOf(world, input));
}

function differences(wanted: Traces, found: Traces): string[] {
  return wanted.siteState === found.siteState && JSON.stringify(wanted) === JSON.stringify(found)
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}
