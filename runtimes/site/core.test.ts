/** Where restores and downloads get WordPress core from. */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unstage } from "../releaseMoves.ts";
import { currentRelease, firstRelease, releaseIn, stagedRelease, writeRecord } from "../releases.ts";
import type { EnvironmentRef, NewWordPress } from "../runtime.ts";
import { sqliteDatabase } from "../sqlite/sqliteDatabase.ts";
import { clone } from "./copy/clone.ts";
import { stage } from "./copy/stage.ts";
import { addCoreToSnapshot, installWordPress } from "./core.ts";
import { exportSite } from "./export/exportSite.ts";
import { type ReleaseFacts, recordOf } from "./release.ts";

let folder: string;
let assets: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "core-"));
  assets = path.join(folder, "assets");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes core code that names its origin into a folder of the asset store. */
async function putCore(core: string, origin = core): Promise<void> {
  for (const name of ["wp-admin", "wp-includes"]) {
    await mkdir(path.join(assets, core, name), { recursive: true });
    await writeFile(path.join(assets, core, name, "from.txt"), origin);
  }
}

/** Writes core code as it comes with a Sitewright version. */
async function putAssets(name: string, wordpressVersion: string): Promise<void> {
  await putCore(path.join(name, "core"), name);
  await writeFile(path.join(assets, name, "manifest.json"), JSON.stringify({ wordpressVersion, locales: ["en_US"] }));
}

/** Creates a snapshot of a WordPress with that core. */
async function snapshot(wordpressVersion: string, core: string): Promise<string> {
  const facts: ReleaseFacts = { wordpressVersion, multisite: null, core };
  const target = path.join(folder, "snapshot");
  for (const part of ["public", "database"]) await mkdir(path.join(target, part), { recursive: true });
  await writeFile(path.join(target, "public", "index.php"), "<?php");
  const database = new DatabaseSync(path.join(target, "database", "wordpress.sqlite"));
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY)");
  database.close();
  await addCoreToSnapshot(assets, facts, target);
  await writeRecord(target, { ...facts, ...firstRelease });
  return target;
}

const restored = { id: "restored", number: 1 };
const context = () => ({ environments: path.join(folder, "environments"), assets, database: sqliteDatabase });

function restore(source: string, environment = restored) {
  return clone({ environment, source: { folder: source }, addresses: [] }, context());
}

async function download(source: string): Promise<string> {
  const target = path.join(folder, "target");
  await exportSite({ folder: source }, target, context());
  return readFile(path.join(target, "public", "wp-includes", "from.txt"), "utf8");
}

/** Returns the origin of the code in a download and in a restore, and its path in the latter. */
async function originsOf(source: string) {
  const exported = await download(source);
  await restore(source);
  const release = await currentRelease(path.join(folder, "environments", restored.id));
  const core = release === null ? null : recordOf(release).core;
  return { exported, core, restored: await readFile(path.join(assets, core ?? "", "wp-includes", "from.txt"), "utf8") };
}

test("core code of an earlier Sitewright version is used while it exists", async () => {
  await putAssets("files-1", "7.1.1");
  const snapshotFolder = await snapshot("7.1.1", "files-1/core");
  await putAssets("files-2", "7.2");
  expect(await originsOf(snapshotFolder)).toEqual({ exported: "files-1", restored: "files-1", core: "files-1/core" });
});

test("after that, the same version is used from any other snapshotFolder, and no other version", async () => {
  await putAssets("files-1", "7.1.1");
  const snapshotFolder = await snapshot("7.1.1", "files-1/core");
  await rm(path.join(assets, "files-1"), { recursive: true });
  await putAssets("files-2", "7.2");
  await putCore("cores/7.1");
  for (const make of [() => restore(snapshotFolder), () => download(snapshotFolder)]) {
    await expect(make()).rejects.toThrow(
      /^WordPress 7\.1\.1, which this site used, is no longer available here\. .+ the Sitewright version of that time/,
    );
  }
  expect(await readdir(path.join(folder, "environments"))).toEqual([]);
  for (const core of ["cores/7.1.1", "cores/7.1.1-0123456789abcdef"]) {
    await putCore(core);
    expect(await originsOf(snapshotFolder)).toMatchObject({ exported: core, restored: core, core });
    for (const made of ["target", "environments"]) await rm(path.join(folder, made), { recursive: true });
  }
});

test("core code is found in a newer Sitewright with the same WordPress", async () => {
  await putAssets("files-1", "7.1.1");
  const snapshotFolder = await snapshot("7.1.1", "files-1/core");
  await rename(path.join(assets, "files-1"), path.join(assets, "files-2"));
  expect(await originsOf(snapshotFolder)).toMatchObject({ restored: "files-1", core: "files-2/core" });
});

test("a snapshot of an updated WordPress contains its core code, for restores and downloads", async () => {
  await putCore("cores/7.2");
  const snapshotFolder = await snapshot("7.2", "cores/7.2");
  await rm(path.join(assets, "cores"), { recursive: true });
  expect(await originsOf(snapshotFolder)).toEqual({ exported: "cores/7.2", restored: "cores/7.2", core: "cores/7.2" });
  expect(recordOf(await releaseIn(snapshotFolder)).core).toBe("cores/7.2");
});

/** Creates an unpacked WordPress with this code. */
async function unpacked(code: string): Promise<NewWordPress> {
  const target = path.join(folder, `unpacked-${code}`);
  for (const name of ["wp-admin", "wp-includes"]) {
    await mkdir(path.join(target, name), { recursive: true });
    await writeFile(path.join(target, name, "from.txt"), code);
  }
  return { version: "7.2", folder: target };
}

/**
 * Installs WordPress into a new release of the environment, and then discards that release. Returns its core path and
 * code.
 */
async function installed(environment: EnvironmentRef, wordpress: NewWordPress) {
  const live = path.join(folder, "environments", environment.id);
  const token = "next";
  const everything = { files: "all", database: "all", addresses: [] } as const;
  await stage({ environment, source: environment, token, ...everything }, context());
  await installWordPress(live, token, wordpress, { assets, takeOwnership: async () => undefined });
  const release = await stagedRelease(live, token);
  const core = release === null ? null : recordOf(release).core;
  await unstage(live, token);
  return { core, code: await readFile(path.join(assets, core ?? "", "wp-includes", "from.txt"), "utf8") };
}

test("a damaged package is never used in place of the repaired one of the same version", async () => {
  await putAssets("files-1", "7.1.1");
  const snapshotFolder = await snapshot("7.1.1", "files-1/core");
  const other = { id: "other", number: 2 };
  for (const environment of [restored, other]) await restore(snapshotFolder, environment);
  const bad = await installed(restored, await unpacked("bad"));
  expect(bad).toEqual({ core: expect.stringMatching(/^cores\/7\.2-[0-9a-f]{16}$/), code: "bad" });
  const repaired = await installed(restored, await unpacked("repaired"));
  expect(repaired.code).toBe("repaired");
  expect(await installed(restored, await unpacked("repaired"))).toEqual(repaired);
  expect(await installed(other, await unpacked("repaired"))).toEqual(repaired);
});
