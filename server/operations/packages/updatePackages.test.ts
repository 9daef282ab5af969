/** Queued updates: they never downgrade a package or bring back a removed one. */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pluginZip, themeZip } from "../../packages/testing/zips.ts";
import { systemActor } from "../../store/company/activity.ts";
import type { PackageKind } from "../../store/database.ts";
import { putPackages } from "../../testing/packages.ts";
import { putZip } from "../../testing/packageUpdates.ts";
import { liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import type { Harness } from "../faults/testing/crashHarness.ts";
import type { UpdatePackagesInput } from "./updatePackages.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
  for (const version of ["1.5", "2.0"]) {
    for (const name of ["shop", "cart"]) await putZip(world, `${name}-${version}.zip`, await pluginZip(name, version));
    await putZip(world, `leaf-${version}.zip`, await themeZip("leaf", version));
  }
});
afterAll(() => world[Symbol.asyncDispose]());

const isTheme = (name: string) => name === "leaf";
const fileOf = (name: string) => (isTheme(name) ? name : `${name}/${name}.php`);
/** The file with the package's header, relative to `wp-content`. */
const headerFile = (name: string) => (isTheme(name) ? "themes/leaf/style.css" : `plugins/${fileOf(name)}`);
const code = (name: string, version: string) =>
  isTheme(name)
    ? `/* Theme Name: Leaf\n * Version: ${version} */\n`
    : `<?php\n/* Plugin Name: ${name}\n * Version: ${version} */\n`;

/** Creates a live site with version 1.0 of these packages. */
async function siteWith(...names: readonly string[]) {
  const site = await liveSite(world);
  const { runtime } = world.services;
  const content = async () => path.join((await runtime.layout(site.environment))?.documentRoot ?? "", "wp-content");
  const install = async (name: string, version: string) => {
    const place = path.join(await content(), headerFile(name));
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, code(name, version));
  };
  for (const name of names) await install(name, "1.0");
  const packageKindOf = (name: string): PackageKind => (isTheme(name) ? "theme" : "plugin");
  await putPackages(
    world.own.database,
    site.environment.id,
    names.map((name) => ({ name, kind: packageKindOf(name) })),
  );

  /** An update that was requested while 1.0 was installed. */
  const update = (to: string, which = names): OperationRequest => {
    const { companyId, siteId, environment, address, name: siteName } = site;
    const [kind] = which.map(packageKindOf);
    const input: UpdatePackagesInput = {
      token: randomUUID(),
      target: environment,
      address,
      kind: kind ?? "plugin",
      updates: which.map((name) => ({ name, slug: name, file: fileOf(name), from: "1.0", to })),
    };
    return {
      kind: which.length > 1 ? "updatePlugins" : kind === "theme" ? "updateTheme" : "updatePlugin",
      companyId,
      siteId,
      environmentId: environment.id,
      locks: [environment.id],
      input,
      whenBusy: "queue",
      actor: systemActor,
      activityParameters: { siteName, environmentName: "Live" },
    };
  };
  return {
    environment: site.environment,
    install,
    update,
    remove: async (name: string) => rm(path.dirname(path.join(await content(), headerFile(name))), { recursive: true }),
    /** Returns null if it is not installed. */
    versionOf: async (name: string) => {
      const text = await readFile(path.join(await content(), headerFile(name)), "utf8").catch(() => "");
      return /Version: (\S+)/.exec(text)?.[1] ?? null;
    },
    statusOf: async (name: string) => {
      const row = world.own.database.selectFrom("packages").select(["version", "update_status", "failed_version"]);
      return row.where("environment_id", "=", site.environment.id).where("name", "=", name).executeTakeFirst();
    },
  };
}

/** Counts the releases that were built for the environment. */
async function built({ id }: { readonly id: string }): Promise<number> {
  const { script } = createFakeRuntime({ folder: path.join(world.facts.dataFolder, "fake") });
  const calls = (await script.calls()).filter(({ method, when }) => method === "stage" && when === "before");
  return calls.filter(({ environmentId }) => environmentId === id).length;
}

/** Submits the second operation while the first one runs. */
async function inLine(harness: Harness, first: OperationRequest, second: OperationRequest) {
  const accepted = Promise.withResolvers<void>();
  const one = harness.submit(first, () => accepted.resolve());
  await accepted.promise;
  return Promise.all([one, harness.submit(second)]);
}

describe.each(["shop", "leaf"])("a queued update of %s", (name) => {
  test("does not replace a newer version", async () => {
    const site = await siteWith(name);
    const [first, second] = await withEngine(world, (harness) =>
      inLine(harness, site.update("2.0"), site.update("1.5")),
    );
    expect(first).toMatchObject({ state: "succeeded", result: { updated: [{ name, from: "1.0", to: "2.0" }] } });
    expect(second).toMatchObject({
      state: "failed",
      public_error: `${name} already has version 2.0, and 1.5 is not newer.`,
    });
    expect(await site.versionOf(name)).toBe("2.0");
  });

  test("does not install the same version again, and is not shown as failed", async () => {
    const site = await siteWith(name);
    const [, second] = await withEngine(world, (harness) => inLine(harness, site.update("2.0"), site.update("2.0")));
    expect(second.public_error).toBe(`${name} already has version 2.0, and 2.0 is not newer.`);
    expect(await built(site.environment)).toBe(1);
    expect(await site.statusOf(name)).toEqual({ version: "2.0", update_status: "updated", failed_version: null });
  });

  test("does not bring back a removed package", async () => {
    const site = await siteWith(name);
    await site.remove(name);
    const row = await withEngine(world, (harness) => harness.submit(site.update("2.0")));
    const kind = name === "leaf" ? "theme" : "plugin";
    expect(row).toMatchObject({ state: "failed", public_error: `The environment no longer has the ${kind} ${name}.` });
    expect(await site.versionOf(name)).toBeNull();
    expect(await built(site.environment)).toBe(0);
  });

  test("reports the version that was installed when it started", async () => {
    const site = await siteWith(name);
    const [, second] = await withEngine(world, (harness) => inLine(harness, site.update("1.5"), site.update("2.0")));
    expect(second).toMatchObject({ state: "succeeded", result: { updated: [{ name, from: "1.5", to: "2.0" }] } });
    expect(await site.versionOf(name)).toBe("2.0");
  });
});

test("updates none of several packages if one of them already has a newer version", async () => {
  const site = await siteWith("shop", "cart");
  const first = site.update("2.0", ["cart"]);
  const [, second] = await withEngine(world, (harness) => inLine(harness, first, site.update("1.5")));
  expect(second.public_error).toBe("cart already has version 2.0, and 1.5 is not newer.");
  expect([await site.versionOf("shop"), await site.versionOf("cart")]).toEqual(["1.0", "2.0"]);
});

test("does not replace a newer version that the site itself has installed during the download", async () => {
  const site = await siteWith("shop");
  const { waitForWrites } = world.services;
  const updatesItself: World = {
    ...world,
    services: {
      ...world.services,
      // The last moment before the environment is frozen.
      waitForWrites: async (environmentId, signal) => {
        await site.install("shop", "3.0");
        return waitForWrites(environmentId, signal);
      },
    },
  };
  const row = await withEngine(updatesItself, (harness) => harness.submit(site.update("2.0")));
  expect(row.public_error).toBe("shop already has version 3.0, and 2.0 is not newer.");
  expect(await site.versionOf("shop")).toBe("3.0");
  expect(await built(site.environment)).toBe(0);
  expect(await site.statusOf("shop")).toMatchObject({ update_status: null });
});
