/**
 * WordPress's own code in other versions than the one that the asset store came with: kept once beside it, and shared by every
 * environment that has that version. What an archive holds of an environment has its code too, so that it can be restored where
 * nobody has that version, and nobody offers it any more.
 *
 * The code that came with Sitewright is in no archive: a first backup would be twice as large by it. It is taken from wherever
 * that version is kept, so that what was archived before an upgrade of Sitewright can be restored after it on the same machine, and
 * on another one that has that version. `docs/decisions/moving.md` says what is to be done where it has not.
 */
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { buildAtomically, exists, removeTree } from "../../folders.ts";
import { ownWebRoot, type Release, stagedRelease, writeRecord } from "../../releases.ts";
import { type NewWordPress, RuntimeFailure } from "../../runtime.ts";
import { isSitesOwn } from "../../wordpressFiles.ts";
import { withLock } from "../assets/lock.ts";
import { readManifest } from "../assets/manifest.ts";
import { sharedFolders } from "../php/site.ts";
import { copyFolders, linkLive } from "./copy/copy.ts";
import { type ReleaseFacts, type ReleaseRecord, recordOf } from "./release.ts";

const added = "cores";
/** Of a snapshot: the code that is not everybody's. */
const coreOfSnapshot = "core";
const isVersion = /^\d+(\.\d+)+(-[A-Za-z0-9.]+)?$/;

/** Of the code that is shared, names and content. */
async function fingerprintOf(folder: string): Promise<string> {
  const hash = createHash("blake2b512");
  for (const shared of sharedFolders) {
    const entries = await readdir(path.join(folder, shared), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
    for (const file of files.toSorted()) {
      const content = await readFile(file);
      hash.update(`${path.relative(folder, file)}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest("hex").slice(0, 16);
}

/** Below the asset store. What a version was when it was bad is not taken for what it is when it was repaired. */
async function placeOf({ version, folder }: NewWordPress): Promise<string> {
  if (!isVersion.test(version)) throw new RuntimeFailure(`${version} is no version of WordPress.`);
  return path.join(added, `${version}-${await fingerprintOf(folder)}`);
}

/** Whether a place has this name: those of earlier versions of Sitewright are named by the version alone. */
function isOf(version: string | null, name: string): boolean {
  return name.replace(/-[0-9a-f]{16}$/, "") === version;
}

/** Keeps the shared folders of `folder`; those that are kept already stay. Two may bring the same at the same time. */
async function keep(assets: string, core: string, folder: string): Promise<void> {
  const place = path.join(assets, core);
  const build = async (target: string) => {
    await copyFolders(
      sharedFolders.map((name) => path.join(folder, name)),
      target,
    );
    await chmod(target, 0o755);
  };
  await withLock(`${place}.lock`, () => buildAtomically(place, `${place}.new`, build));
}

/** The files of WordPress that lie in a web root itself; what is the site's own there stays as it is. */
async function replaceRootFiles(webRoot: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const files = names.filter((name) => !isSitesOwn(name));
  for (const name of files) {
    // Whatever the site has made of it.
    await removeTree(path.join(webRoot, name));
    await copyFile(path.join(folder, name), path.join(webRoot, name));
  }
  return files.map((name) => path.join(webRoot, name));
}

/** Returns the release that is staged under the token that version. Again it comes to the same. */
export async function installWordPress(
  live: string,
  token: string,
  { version, folder }: NewWordPress,
  { assets, give }: { readonly assets: string; readonly give: (place: string) => Promise<void> },
): Promise<void> {
  const webRoot = await ownWebRoot(live, token);
  const release = await stagedRelease(live, token);
  if (release === null || recordOf(release).core === null) {
    throw new RuntimeFailure("What was built has no WordPress.");
  }
  const core = await placeOf({ version, folder });
  await keep(assets, core, folder);
  for (const file of await replaceRootFiles(webRoot, folder)) await give(file);
  const record: ReleaseRecord = { ...recordOf(release), wordpressVersion: version, core };
  await writeRecord(release.folder, record);
}

/** Adds to a snapshot the code that its release shares, where that did not come with the asset store. */
export async function addCore(assets: string, { core }: ReleaseFacts, snapshot: string): Promise<void> {
  if (core?.split(path.sep)[0] !== added) return;
  const place = path.join(snapshot, coreOfSnapshot);
  await mkdir(place);
  for (const name of sharedFolders) await linkLive(path.join(assets, core, name), path.join(place, name));
}

/** When what is in it came there. */
async function timeOf(place: string): Promise<number> {
  return (await stat(place)).mtimeMs;
}

/** A place below the asset store where that version is kept: what came with Sitewright, or else what came last. Null: none. */
async function otherPlaceOf(assets: string, version: string | null): Promise<string | null> {
  const names = await readdir(assets).catch(() => []);
  const came = names.find((name) => readManifest(path.join(assets, name))?.wordpressVersion === version);
  if (came !== undefined) return path.join(came, "core");
  const kept = (await readdir(path.join(assets, added)).catch(() => [])).filter((name) => isOf(version, name));
  const times = await Promise.all(
    kept.map(async (name) => ({ name, time: await timeOf(path.join(assets, added, name)) })),
  );
  const [newest] = times.toSorted((a, b) => b.time - a.time);
  return newest === undefined ? null : path.join(added, newest.name);
}

interface SharedCode {
  readonly folder: string;
  /** Below the asset store; null: in the snapshot alone. */
  readonly place: string | null;
}

/**
 * The code that a release shares: where it says, in the snapshot itself, or wherever else that version is kept here. Null if
 * there is no WordPress. Throws `RuntimeFailure` if it is not to be had.
 */
export async function sharedCodeOf(assets: string, release: Release): Promise<SharedCode | null> {
  const { core, wordpressVersion } = recordOf(release);
  if (core === null) return null;
  if (await exists(path.join(assets, core))) return { folder: path.join(assets, core), place: core };
  const brought = path.join(release.folder, coreOfSnapshot);
  if (await exists(brought)) return { folder: brought, place: null };
  const place = await otherPlaceOf(assets, wordpressVersion);
  if (place !== null) return { folder: path.join(assets, place), place };
  throw new RuntimeFailure(
    `WordPress ${wordpressVersion}, which this was, is not kept here any more. To have it again, the operator restores the ` +
      "installation with the version of Sitewright that this was made with, and upgrades it then.",
  );
}

/** Brings the code here that the release shares, where a snapshot has it and this machine has not. Returns its place. */
export async function bringCore(assets: string, release: Release): Promise<string | null> {
  const { core } = recordOf(release);
  const found = await sharedCodeOf(assets, release);
  if (core === null || found === null || found.place !== null) return found?.place ?? null;
  await keep(assets, core, found.folder);
  return core;
}
