/** Crash test subject for updating a plugin: a live site with the plugin, a mirror with a newer version, and checks. */
import { randomUUID } from "node:crypto";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import type { UpdatePackagesInput } from "../operations/packages/updatePackages.ts";
import { pluginZip } from "../packages/testing/zips.ts";
import { systemActor } from "../store/company/activity.ts";
import { putPackages } from "./packages.ts";
import { liveSite } from "./sites.ts";
import { settled, takeOverState } from "./takeOver.ts";
import type { World } from "./world.ts";

const [name, from, to] = ["shop", "1.0", "2.0"] as const;
const file = `${name}/${name}.php`;

/** Adds a zip to the world's mirror. */
export async function putZip(world: World, zipName: string, zip: Buffer): Promise<void> {
  const folder = path.join(world.facts.dataFolder, "packages");
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, zipName), zip);
}

const inputs = new WeakMap<OperationRequest, UpdatePackagesInput>();

function inputOf(request: OperationRequest): UpdatePackagesInput {
  const input = inputs.get(request);
  if (!input) throw new Error("This request was not prepared here");
  return input;
}

export const updatingPlugin: Subject = {
  kind: "updatePlugin",
  prepare: async (world) => {
    const { companyId, siteId, environment, address, name: siteName } = await liveSite(world);
    const mirrored = path.join(world.facts.dataFolder, "packages", "shop.zip");
    if (!(await exists(mirrored))) await putZip(world, "shop.zip", await pluginZip(name, to));
    const layout = await world.services.runtime.layout(environment);
    const folder = path.join(layout?.documentRoot ?? "", "wp-content/plugins", name);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, `${name}.php`), `<?php\n/* Plugin Name: Shop\n * Version: ${from} */\n`);
    await putPackages(world.own.database, environment.id, [{ name, version: from }]);
    const update = { name, slug: name, file, from, to };
    const input: UpdatePackagesInput = {
      token: randomUUID(),
      target: environment,
      address,
      kind: "plugin",
      updates: [update],
    };
    const request: OperationRequest = {
      kind: "updatePlugin",
      companyId,
      siteId,
      environmentId: environment.id,
      locks: [environment.id],
      input,
      whenBusy: "fail",
      actor: systemActor,
      activityParameters: { siteName, environmentName: "Live" },
    };
    inputs.set(request, input);
    return request;
  },
  finished: (world, request) => differences(world, request, { version: to, status: "updated", backups: 1 }),
  undone: (world, request) => differences(world, request, { version: from, status: "failed", backups: 0 }),
};

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function differences(
  world: World,
  request: OperationRequest,
  wanted: { readonly version: string; readonly status: string; readonly backups: number },
): Promise<string[]> {
  const input = inputOf(request);
  const { own, services } = world;
  const layout = await services.runtime.layout(input.target);
  const code = await readFile(path.join(layout?.documentRoot ?? "", "wp-content/plugins", file), "utf8");
  const query = own.database.selectFrom("packages").select(["version", "update_status"]);
  const row = await query.where("environment_id", "=", input.target.id).executeTakeFirst();
  const found = {
    inFiles: /Version: (\S+)/.exec(code)?.[1],
    inList: row?.version,
    status: row?.update_status,
    ...(await takeOverState(world, input)),
  };
  const { version, status } = wanted;
  const right = { inFiles: version, inList: version, status, ...settled(wanted.backups) };
  // An operation that never started has no update status.
  const neverStarted = { ...right, status: null };
  const text = JSON.stringify(found);
  return [right, neverStarted].some((each) => JSON.stringify(each) === text)
    ? []
    : [`found ${text} instead of ${JSON.stringify(right)}`];
}
