/** Crash test subject for updating WordPress: a live site, a mirror with a newer version, and checks. */
import { randomUUID } from "node:crypto";
import { access, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import type { UpdateWordPressInput } from "../operations/packages/updateWordPress.ts";
import { type MoreFiles, zipOf } from "../packages/testing/zips.ts";
import { systemActor } from "../store/company/activity.ts";
import { putZip } from "./packageUpdates.ts";
import { liveSite } from "./sites.ts";
import { settled, takeOverState } from "./takeOver.ts";
import type { World } from "./world.ts";

/** Returns the content of `version.php`. */
export const versionFile = (version: string, php = "7.4") =>
  `<?php\n$wp_version = '${version}';\n$required_php_version = '${php}';\n`;

/** File contents by path in the WordPress folder. */
export type CoreFiles = Readonly<Record<string, string>>;

/** Returns a zip that just passes as WordPress, for sites of the fake runtime. */
export function smallCoreZip(version: string, more: MoreFiles = {}): Promise<Buffer> {
  const files: MoreFiles = {
    "wp-admin/upgrade.php": "<?php",
    "wp-includes/version.php": versionFile(version),
    "wp-load.php": "<?php",
    "wp-login.php": "<?php",
    "index.php": `<?php // ${version}\n`,
    ...more,
  };
  return zipOf(Object.fromEntries(Object.entries(files).map(([name, content]) => [`wordpress/${name}`, content])));
}

/** Returns a zip of a real WordPress with some files changed. `core` is the WordPress folder. */
export async function realCoreZip(core: string, changed: CoreFiles): Promise<Buffer> {
  const zip = new ZipFile();
  const entries = await readdir(core, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(core, file);
    if (name in changed || name.startsWith("wp-content")) continue;
    zip.addFile(file, `wordpress/${name}`, { compress: false });
  }
  for (const [name, content] of Object.entries(changed)) zip.addBuffer(Buffer.from(content), `wordpress/${name}`);
  zip.end();
  return buffer(zip.outputStream);
}

type Site = Pick<Awaited<ReturnType<typeof liveSite>>, "companyId" | "siteId" | "environment" | "address" | "name">;

export function wordPressUpdate(
  { companyId, siteId, environment, address, name }: Site,
  update: Pick<UpdateWordPressInput, "from" | "to">,
): OperationRequest & { readonly input: UpdateWordPressInput } {
  return {
    kind: "updateWordPress",
    companyId,
    siteId,
    environmentId: environment.id,
    locks: [environment.id],
    input: { token: randomUUID(), target: environment, address, checks: [], pictureThreshold: null, ...update },
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: { siteName: name, environmentName: "Live" },
  };
}

const [from, to] = ["7.1.1", "77.1.2"] as const;
const inputs = new WeakMap<OperationRequest, UpdateWordPressInput>();

export const updatingWordPress: Subject = {
  kind: "updateWordPress",
  prepare: async (world) => {
    const site = await liveSite(world);
    const row = world.own.database.updateTable("environments").set({ wordpress_version: from });
    await row.where("id", "=", site.environment.id).execute();
    const zip = `wordpress-${to}.zip`;
    const isMirrored = await access(path.join(world.facts.dataFolder, "packages", zip)).then(
      () => true,
      () => false,
    );
    if (!isMirrored) await putZip(world, zip, await smallCoreZip(to));
    const request = wordPressUpdate(site, { from, to });
    inputs.set(request, request.input);
    return request;
  },
  finished: (world, request) => differences(world, request, { version: to, backups: 1 }),
  undone: (world, request) => differences(world, request, { version: from, backups: 0 }),
};

async function differences(
  world: World,
  request: OperationRequest,
  wanted: { readonly version: string; readonly backups: number },
): Promise<string[]> {
  const input = inputs.get(request);
  if (!input) throw new Error("This request was not prepared here");
  const { own, services } = world;
  const layout = await services.runtime.layout(input.target);
  const index = await readFile(path.join(layout?.documentRoot ?? "", "index.php"), "utf8");
  const query = own.database.selectFrom("environments").select("wordpress_version");
  const row = await query.where("id", "=", input.target.id).executeTakeFirst();
  const found = {
    isNewCode: index.includes(to),
    served: layout?.wordpressVersion,
    known: row?.wordpress_version,
    ...(await takeOverState(world, input)),
  };
  const { version } = wanted;
  const right = { isNewCode: version === to, served: version, known: version, ...settled(wanted.backups) };
  return JSON.stringify(found) === JSON.stringify(right)
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(right)}`];
}
