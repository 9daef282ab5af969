/** Crash test subject for the test restore of a backup: checks of the site, the backup, and leftovers. */
import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { TestRestoreInput } from "../operations/backups/testRestore.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import { systemActor } from "../store/company/activity.ts";
import { nextEnvironmentNumber } from "../store/sites/environments.ts";
import { backedUpSite } from "./backups.ts";
import { visit } from "./edge.ts";
import type { World } from "./world.ts";

interface TestedSite {
  readonly companyId: string;
  readonly siteId: string;
  readonly name: string;
  readonly environment: TestRestoreInput["environment"];
  readonly address: string;
}

const inputs = new WeakMap<OperationRequest, TestRestoreInput>();

/** Returns the request for a test restore of this backup. */
export async function testRestoreOf(
  { own }: Pick<World, "own">,
  { companyId, siteId, name, environment, address }: TestedSite,
  backupId: number,
): Promise<OperationRequest & { readonly input: TestRestoreInput }> {
  const number = await own.database.transaction().execute(nextEnvironmentNumber);
  const names = { backupName: "Then", environmentName: "Live", siteName: name };
  const request = {
    kind: "proveBackup",
    companyId,
    siteId,
    environmentId: environment.id,
    locks: [],
    input: { backupId, environment, address, scratch: { id: randomUUID(), number, runtime: "playground" } },
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: names,
  } as const;
  inputs.set(request, request.input);
  return request;
}

/** Returns what is left of the test restore: temporary folders, and folders of the scratch environment. */
export async function leftOfTestRestore({ facts }: World, { scratch }: TestRestoreInput): Promise<readonly string[]> {
  const folders = ["work", "environments", "fake/environments"].map((name) => join(facts.dataFolder, name));
  const names = await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])));
  const [work = [], ...environments] = names;
  return [...work, ...environments.flat().filter((name) => name.startsWith(scratch.id))];
}

async function differences(world: World, request: OperationRequest, isProven: boolean): Promise<string[]> {
  const input = inputs.get(request);
  if (!input) throw new Error("This request was not prepared here");
  const { database } = world.own;
  const backup = await database.selectFrom("backups").selectAll().where("id", "=", input.backupId).executeTakeFirst();
  const found = {
    isProven: backup?.last_proven_restore != null,
    proofError: backup?.proof_error,
    status: (await visit(world.facts.edgePort, input.address)).status,
    left: await leftOfTestRestore(world, input),
  };
  return isDeepStrictEqual(found, { isProven, proofError: null, status: 200, left: [] })
    ? []
    : [`found ${JSON.stringify(found)} although the test restore ${isProven ? "succeeded" : "failed"}`];
}

export const testingBackup: Subject = {
  kind: "proveBackup",
  prepare: async (world) => {
    const { site, backup } = await backedUpSite(world);
    return testRestoreOf(world, site, backup.id);
  },
  finished: (world, request) => differences(world, request, true),
  undone: (world, request) => differences(world, request, false),
};
