/** A site with real WordPress and a plugin called Shop, for tests of updates. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { PackageUpdate, UpdatePackagesInput } from "../operations/packages/updatePackages.ts";
import { systemActor } from "../store/company/activity.ts";
import type { PackageKind } from "../store/database.ts";
import { visit } from "./edge.ts";
import { makePlaygroundWorld } from "./playground.ts";
import { liveSite } from "./sites.ts";

/** PHP code of a plugin that shows its version to visitors. */
export const shows = (version: string, name = "shop") =>
  `add_action('wp_footer', fn () => print '<i>${name} ${version}</i>');`;

const kinds = {
  plugin: { one: "updatePlugin", several: "updatePlugins" },
  theme: { one: "updateTheme", several: "updateThemes" },
} as const satisfies Record<PackageKind, Record<string, OperationKind>>;

export type ShopSite = Awaited<ReturnType<typeof openShopSite>>;

/** Opens the site. The caller disposes of its world. */
export async function openShopSite() {
  // A request that never ends takes this deadline in full.
  const world = await makePlaygroundWorld(20);
  const { runtime } = world.services;
  const site = await liveSite(world);
  const { companyId, siteId, environment, address, name: siteName } = site;

  async function wpCli(...argv: readonly string[]): Promise<string> {
    const command = { phpVersion: "8.3", argv, seconds: 120 };
    const { signal } = new AbortController();
    const { exitCode, stdout } = await runtime.runWpCli(environment, command, async () => undefined, signal);
    if (exitCode !== 0) throw new Error(`wp ${argv.join(" ")} ended with ${exitCode}`);
    return stdout.text.trim();
  }

  /** Returns `wp-content` of the current release. */
  const content = async () => join((await runtime.layout(environment))?.documentRoot ?? "", "wp-content");

  const installed: string[] = [];

  /** Adds and activates a plugin with a single file. Later calls deactivate all but these plugins. */
  async function addPlugin(name: string, version: string): Promise<void> {
    const folder = join(await content(), "plugins", name);
    await mkdir(folder);
    const header = `/* Plugin Name: The ${name}\n * Version: ${version} */`;
    await writeFile(join(folder, `${name}.php`), `<?php\n${header}\n${shows(version, name)}\n`);
    installed.push(`${name}/${name}.php`);
    const active = installed.map((file, index) => `i:${index};s:${file.length}:"${file}";`);
    await setOption("active_plugins", `a:${active.length}:{${active.join("")}}`);
  }

  async function inDatabase<T>(work: (database: DatabaseSync) => T): Promise<T> {
    const database = new DatabaseSync(join(await content(), "../../database/wordpress.sqlite"));
    try {
      return work(database);
    } finally {
      database.close();
    }
  }

  /** Returns the option, serialized if it is an array. */
  const option = (name: string) =>
    inDatabase(
      (database) =>
        database.prepare("SELECT option_value AS value FROM wp_options WHERE option_name = ?").get(name)?.value,
    );

  const setOption = (name: string, value: string) =>
    inDatabase((database) => {
      database.prepare("UPDATE wp_options SET option_value = ? WHERE option_name = ?").run(value, name);
    });

  /** Returns the version in the header of a plugin or theme. `file` is relative to `wp-content`. */
  async function versionOf(file: string): Promise<string | undefined> {
    return /^[\s*]*Version: (\S+)/m.exec(await readFile(join(await content(), file), "utf8"))?.[1];
  }

  function request(kind: OperationRequest["kind"], input: OperationRequest["input"]): OperationRequest {
    const ids = { companyId, siteId, environmentId: environment.id, locks: [environment.id] };
    const activityParameters = { siteName, environmentName: "Live" };
    return { ...ids, kind, input, whenBusy: "fail", actor: systemActor, activityParameters };
  }

  function update(
    updates: readonly PackageUpdate[],
    kind: PackageKind = "plugin",
    more: Partial<UpdatePackagesInput> = {},
  ) {
    const token = `t-${updates.map(({ to }) => to.replace(/\W/g, "-")).join("-")}`;
    const input: UpdatePackagesInput = { token, target: environment, address, kind, updates, ...more };
    return request(updates.length === 1 ? kinds[kind].one : kinds[kind].several, input);
  }

  await addPlugin("shop", "1.0");
  const front = async () => (await visit(world.facts.edgePort, address)).body;
  return { world, site, wpCli, content, option, setOption, versionOf, addPlugin, front, request, update };
}
