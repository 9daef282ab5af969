/** Updates of real WordPress: good ones replace the site, bad ones are rejected. */
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PackageSource } from "../../packages/source.ts";
import { coreSource } from "../../packages/testing/coreSource.ts";
import { withText } from "../../packages/testing/zips.ts";
import { visit } from "../../testing/edge.ts";
import { putZip } from "../../testing/packageUpdates.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import {
  type CoreFiles,
  realCoreZip,
  smallCoreZip,
  versionFile,
  wordPressUpdate,
} from "../../testing/wordpressUpdates.ts";
import type { World } from "../../testing/world.ts";

const timeout = 400_000;
const from = "7.1.1";
/** Not a real version, so that the test can remove its code from the cache that all tests share. */
const to = "77.1.2-test";

let world: World;
let site: Awaited<ReturnType<typeof liveSite>>;
let core: string;
let cores: string;

beforeAll(async () => {
  world = await makePlaygroundWorld();
  site = await liveSite(world);
  const layout = await world.services.runtime.layout(site.environment);
  core = dirname(layout?.overlays["wp-includes"] ?? "");
  cores = join(dirname(dirname(core)), "cores");
}, timeout);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await removeCoresOf(to);
});

/** Names of the version's folders in the shared code. */
async function coresOf(version: string): Promise<string[]> {
  const names = await readdir(cores).catch(() => []);
  return names.filter((name) => name.startsWith(`${version}-`) && !name.endsWith(".lock"));
}

async function removeCoresOf(version: string): Promise<void> {
  for (const name of await coresOf(version)) await rm(join(cores, name), { recursive: true });
}

/** The version of the database's tables, from WordPress's options. */
async function dbVersion(): Promise<number> {
  const layout = await world.services.runtime.layout(site.environment);
  const database = new DatabaseSync(join(layout?.documentRoot ?? "", "../database/wordpress.sqlite"));
  const row = database.prepare("SELECT option_value AS value FROM wp_options WHERE option_name = 'db_version'").get();
  database.close();
  return Number(row?.value);
}

/** The version's own `version.php`, with a raised database version. */
async function newer(version: string): Promise<CoreFiles> {
  const file = "wp-includes/version.php";
  const text = await readFile(join(core, file), "utf8");
  const dbVersion = Number(/\$wp_db_version = (\d+)/.exec(text)?.[1]);
  const changed = text.replace(/\$wp_version = '[^']+'/, `$wp_version = '${version}'`);
  return { [file]: changed.replace(/\$wp_db_version = \d+/, `$wp_db_version = ${dbVersion + 1}`) };
}

async function offer(version: string, zip: Promise<Buffer>): Promise<void> {
  await putZip(world, `wordpress-${version}.zip`, await zip);
}

const update = (version: string, packageSource = world.services.packageSource) =>
  withEngine({ ...world, services: { ...world.services, packageSource } }, (harness) =>
    harness.submit(wordPressUpdate(site, { from, to: version })),
  );

async function rejected(version: string, source?: PackageSource): Promise<string> {
  const row = await update(version, source);
  expect(row.state).toBe("failed");
  expect((await world.services.runtime.layout(site.environment))?.wordpressVersion).toBe(from);
  expect((await visit(world.facts.edgePort, site.address)).status).toBe(200);
  expect(await readdir(join(world.facts.dataFolder, "work")).catch(() => [])).toEqual([]);
  return row.public_error ?? "";
}

test("broken and invalid updates are rejected with the reason", { timeout }, async () => {
  const load = { "wp-load.php": "<?php nothing_there();" };
  const broken = { ...load, "wp-admin/upgrade.php": "<?php require __DIR__ . '/../wp-load.php';" };
  await offer("78.0", smallCoreZip("78.0", broken));
  await offer("78.1", smallCoreZip("78.0"));
  await offer("78.2", smallCoreZip("78.2", { "wp-includes/version.php": versionFile("78.2", "99.0") }));
  const leadsOut = withText(await smallCoreZip("78.3", { "xx/x.php": "" }), "wordpress/xx/x.php", "wordpress/../x.php");
  // The mirror would omit it.
  const source = await coreSource("78.3", (response) => response.end(leadsOut));
  try {
    expect(await rejected("78.0")).toMatch(/its database upgrade has the status 500: .*nothing_there/);
    expect(await rejected("78.1")).toBe("WordPress 78.1: The package is refused: it is version 78.0.");
    expect(await rejected("78.2")).toMatch(/it needs PHP 99\.0, but the environment has 8\.\d\.$/);
    expect(await rejected("78.3", source)).toBe("WordPress 78.3: The package is refused: a path in it leads outside.");
    expect(await rejected("77.7")).toBe("WordPress 77.7: The package source does not offer it.");
  } finally {
    await removeCoresOf("78.0");
  }
});

test("a good update replaces the site and upgrades its database", { timeout }, async () => {
  await offer(to, realCoreZip(core, await newer(to)));
  const before = await dbVersion();
  const row = await update(to);
  expect(row).toMatchObject({ state: "succeeded", public_error: null, result: { from, to } });
  expect(await dbVersion()).toBe(before + 1);
  const { body } = await visit(world.facts.edgePort, site.address);
  expect(body).toContain(`<meta name="generator" content="WordPress ${to}" />`);
  expect(body).toContain("</html>");
  expect((await visit(world.facts.edgePort, `${site.address}/wp-admin/css/login.min.css`)).status).toBe(200);
  const known = world.own.database.selectFrom("environments").select("wordpress_version");
  expect(await known.where("id", "=", site.environment.id).executeTakeFirst()).toEqual({ wordpress_version: to });
});

test("a snapshot restores WordPress code that is missing on the machine", { timeout }, async () => {
  const { runtime, archives } = world.services;
  const folder = await archives.workFolder("snapshot");
  await runtime.snapshot(site.environment, folder);
  const [name = ""] = await coresOf(to);
  const away = join(cores, "away");
  await rename(join(cores, name), away);
  try {
    const copy = { ...site.environment, id: `${site.environment.id}-copy` };
    expect(await runtime.clone({ environment: copy, source: { folder }, addresses: [] })).toEqual({
      wordpressVersion: to,
    });
    const includes = join(cores, name, "wp-includes");
    expect((await readdir(includes, { recursive: true })).length).toBeGreaterThan(1_000);
    await runtime.destroy(copy);
  } finally {
    await rm(away, { recursive: true, force: true });
    await archives.removeWorkFolder("snapshot");
  }
});
