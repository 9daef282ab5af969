/** Crash test subject for the reset of a site: a live site with a marker file, and checks of both. */
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readSpec } from "@sitewright/runtimes/fake/runtime.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import type { ResetSiteInput } from "../operations/sites/resetSite.ts";
import { systemActor } from "../store/company/activity.ts";
import { nextEnvironmentNumber } from "../store/sites/environments.ts";
import { visit } from "./edge.ts";
import { digest, liveSite } from "./sites.ts";
import type { World } from "./world.ts";

const newDigest = "B".repeat(64);

/** What the checks need to know about a request. */
const inputs = new WeakMap<OperationRequest, ResetSiteInput & { readonly title: string }>();

export const resettingSite: Subject = {
  kind: "resetSite",
  prepare: async (world) => {
    const { database } = world.own;
    const { companyId, siteId, environment, address, name } = await liveSite(world);
    await writeFile(await ownFile(world, environment), "own");
    const number = await database.transaction().execute(nextEnvironmentNumber);
    const input: ResetSiteInput = {
      token: randomUUID(),
      environment,
      scratch: { id: randomUUID(), number, runtime: "playground" },
      address,
    };
    const request: OperationRequest = {
      kind: "resetSite",
      companyId,
      siteId,
      environmentId: environment.id,
      locks: [environment.id],
      input,
      secret: newDigest,
      whenBusy: "fail",
      actor: systemActor,
      activityParameters: { siteName: name },
    };
    inputs.set(request, { ...input, title: name });
    return request;
  },
  finished: (world, request) =>
    differences(world, request, { digest: newDigest, ownFile: null, version: "7.1.1", backups: 1 }),
  undone: (world, request) => differences(world, request, { digest, ownFile: "own", version: null, backups: 0 }),
};

async function webRoot({ services }: World, environment: ResetSiteInput["environment"]): Promise<string> {
  const layout = await services.runtime.layout(environment);
  if (layout === null) throw new Error("The live environment is gone");
  return layout.documentRoot;
}

async function ownFile(world: World, environment: ResetSiteInput["environment"]): Promise<string> {
  return path.join(await webRoot(world, environment), "own.txt");
}

interface Outcome {
  /** Digest of the administrator's password. */
  readonly digest: string;
  readonly ownFile: string | null;
  readonly version: string | null;
  readonly backups: number;
}

async function differences(world: World, request: OperationRequest, outcome: Outcome): Promise<string[]> {
  const input = inputs.get(request);
  if (!input) throw new Error("This request was not prepared here");
  const { environment, scratch, token, title, address } = input;
  const { runtime } = world.services;
  const backups = await backupsOf(world, environment.id);
  const spec = await readSpec(path.join(await webRoot(world, environment), "..", "spec.json"));
  const { body } = await visit(world.facts.edgePort, address);
  const found = {
    digest: spec?.wordpress?.adminPasswordDigest,
    ownFile: await readFile(await ownFile(world, environment), "utf8").catch(() => null),
    ...(await rowOf(world, environment.id)),
    backups: backups.filter(({ manifest }) => manifest !== null).length,
    unfinished: backups.filter(({ manifest }) => manifest === null).length,
    title: /<title>(.*?)<\/title>/.exec(body)?.[1],
    scratch: await runtime.layout(scratch),
    staged: await runtime.staged(environment, token),
  };
  const wanted = { ...outcome, isFrozen: false, unfinished: 0, title, scratch: null, staged: null };
  return isDeepStrictEqual(found, wanted)
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}

function rowOf({ own }: World, id: string) {
  return own.database
    .selectFrom("environments")
    .select(["wordpress_version as version", "is_frozen as isFrozen"])
    .where("id", "=", id)
    .executeTakeFirst();
}

function backupsOf({ own }: World, id: string) {
  return own.database.selectFrom("backups").select("manifest").where("environment_id", "=", id).execute();
}
