/** Where WordPress's own code is had from when an archive is restored, or taken elsewhere. */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unstage } from "../../releaseMoves.ts";
import { currentRelease, firstRelease, releaseIn, stagedRelease, writeRecord } from "../../releases.ts";
import type { EnvironmentRef, NewWordPress } from "../../runtime.ts";
import { clone } from "./copy/clone.ts";
import { stage } from "./copy/stage.ts";
import { addCore, installWordPress } from "./core.ts";
import { exportSite } from "./export/exportSite.ts";
import { type ReleaseFacts, recordOf } from "./release.ts";

let folder: string;
let assets: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "core-"));
  assets = path.join(folder, "assets");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Code that says where it is from, in a folder of the asset store. */
async function putCore(place: string, from = place): Promise<void> {
  for (const name of ["wp-admin", "wp-includes"]) {
    await mkdir(path.join(assets, place, name), { recursive: true });
    await writeFile(path.join(assets, place, name, "from.txt"), from);
  }
}

/** As it comes with a version of Sitewright. */
async function putAssets(name: string, wordpressVersion: string): Promise<void> {
  await putCore(path.join(name, "core"), name);
  await writeFile(path.join(assets, name, "manifest.json"), JSON.stringify({ wordpressVersion, locales: ["en_US"] }));
}

/** Of a WordPress with that code. */
async function snapshot(wordpressVersion: string, core: string): Promise<string> {
  const facts: ReleaseFacts = { wordpressVersion, multisite: null, core };
  const place = path.join(folder, "snapshot");
  for (const part of ["public", "database"]) await mkdir(path.join(place, part), { recursive: true });
  await writeFile(path.join(place, "public", "index.php"), "<?php");
  const database = new DatabaseSync(path.join(place, "database", "wordpress.sqlite"));
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY)");
  database.close();
  await addCore(assets, facts, place);
  await writeRecord(place, { ...facts, ...firstRelease });
  return place;
}

const restored = { id: "restored", number: 1 };

function restore(place: string, environment = restored) {
  return clone({ environment, source: { folder: place }, addresses: [] }, path.join(folder, "environments"), assets);
}

async function download(place: string): Promise<string> {
  const target = path.join(folder, "target");
  await exportSite({ folder: place }, target, assets);
  return readFile(path.join(target, "public", "wp-includes", "from.txt"), "utf8");
}

/** Where the code of a download and of a restore is from, and where the latter has it. */
async function madeOf(place: string) {
  const exported = await download(place);
  await restore(place);
  const release = await currentRelease(path.join(folder, "environments", restored.id));
  const core = release === null ? null : recordOf(release).core;
  return { exported, core, restored: await readFile(path.join(assets, core ?? "", "wp-includes", "from.txt"), "utf8") };
}

test("what came with an earlier Sitewright is taken from there as long as it is kept", async () => {
  await putAssets("files-1", "7.1.1");
  const place = await snapshot("7.1.1", "files-1/core");
  await putAssets("files-2", "7.2");
  expect(await madeOf(place)).toEqual({ exported: "files-1", restored: "files-1", core: "files-1/core" });
});

test("after that, the same version is taken from wherever it is kept, and nothing else", async () => {
  await putAssets("files-1", "7.1.1");
  const place = await snapshot("7.1.1", "files-1/core");
  await rm(path.join(assets, "files-1"), { recursive: true });
  await putAssets("files-2", "7.2");
  await putCore("cores/7.1");
  for (const make of [() => restore(place), () => download(place)]) {
    await expect(make()).rejects.toThrow(
      /^WordPress 7\.1\.1, which this was, is not kept here any more\. .+ the version of Sitewright that this was made with/,
    );
  }
  expect(await readdir(path.join(folder, "environments"))).toEqual([]);
  for (const core of ["cores/7.1.1", "cores/7.1.1-0123456789abcdef"]) {
    await putCore(core);
    expect(await madeOf(place)).toMatchObject({ exported: core, restored: core, core });
    for (const made of ["target", "environments"]) await rm(path.join(folder, made), { recursive: true });
  }
});

test("a newer Sitewright with the same WordPress has it", async () => {
  await putAssets("files-1", "7.1.1");
  const place = await snapshot("7.1.1", "files-1/core");
  await rename(path.join(assets, "files-1"), path.join(assets, "files-2"));
  expect(await madeOf(place)).toMatchObject({ restored: "files-1", core: "files-2/core" });
});

test("what was updated has its code with it, for a restore and for a download", async () => {
  await putCore("cores/7.2");
  const place = await snapshot("7.2", "cores/7.2");
  await rm(path.join(assets, "cores"), { recursive: true });
  expect(await madeOf(place)).toEqual({ exported: "cores/7.2", restored: "cores/7.2", core: "cores/7.2" });
  expect(recordOf(await releaseIn(place)).core).toBe("cores/7.2");
});

/** A WordPress as it was unpacked, whose shared code is this. */
async function unpacked(code: string): Promise<NewWordPress> {
  const place = path.join(folder, `unpacked-${code}`);
  for (const name of ["wp-admin", "wp-includes"]) {
    await mkdir(path.join(place, name), { recursive: true });
    await writeFile(path.join(place, name, "from.txt"), code);
  }
  return { version: "7.2", folder: place };
}

/** What the environment's next release has of it; then that release is given up. */
async function tried(environment: EnvironmentRef, wordpress: NewWordPress) {
  const environments = path.join(folder, "environments");
  const live = path.join(environments, environment.id);
  const token = "next";
  const whole = { files: "all", database: "all", addresses: [] } as const;
  await stage({ environment, source: environment, token, ...whole }, environments, assets);
  await installWordPress(live, token, wordpress, { assets, give: async () => undefined });
  const release = await stagedRelease(live, token);
  const core = release === null ? null : recordOf(release).core;
  await unstage(live, token);
  return { core, code: await readFile(path.join(assets, core ?? "", "wp-includes", "from.txt"), "utf8") };
}

test("a package that was bad, and given up, stands in for the repaired one of its version in no environment", async () => {
  await putAssets("files-1", "7.1.1");
  const place = await snapshot("7.1.1", "files-1/core");
  const other = { id: "other", number: 2 };
  for (const environment of [restored, other]) await restore(place, environment);
  const bad = await tried(restored, await unpacked("bad"));
  expect(bad).toEqual({ core: expect.stringMatching(/^cores\/7\.2-[0-9a-f]{16}$/), code: "bad" });
  const repaired = await tried(restored, await unpacked("repaired"));
  expect(repaired.code).toBe("repaired");
  expect(await tried(restored, await unpacked("repaired"))).toEqual(repaired);
  expect(await tried(other, await unpacked("repaired"))).toEqual(repaired);
});
