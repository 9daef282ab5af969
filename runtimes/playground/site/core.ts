/**
 * WordPress's own code in other versions than the one that the asset store came with: kept once beside it, and shared by every
 * environment that has that version. What an archive holds of an environment has its code too, so that it can be restored where
 * nobody has that version, and nobody offers it any more.
 */
import { chmod, copyFile, mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { buildWhole, exists, removeTree } from "../../folders.ts";
import { ownWebRoot, type Release, stagedRelease, writeRecord } from "../../releases.ts";
import { type NewWordPress, RuntimeFailure } from "../../runtime.ts";
import { isSitesOwn } from "../../wordpressFiles.ts";
import { withLock } from "../assets/lock.ts";
import { sharedFolders } from "../php/site.ts";
import { copyFolders, linkLive } from "./copy.ts";
import { type ReleaseFacts, type ReleaseRecord, recordOf } from "./release.ts";

const added = "cores";
/** Of a snapshot: the code that is not everybody's. */
const coreOfSnapshot = "core";
const isVersion = /^\d+(\.\d+)+(-[A-Za-z0-9.]+)?$/;

/** Below the asset store. */
function placeOf(version: string): string {
  if (!isVersion.test(version)) throw new RuntimeFailure(`${version} is no version of WordPress.`);
  return path.join(added, version);
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
  await withLock(`${place}.lock`, () => buildWhole(place, `${place}.new`, build));
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

/** Gives the release that is staged under the token that version. Again it comes to the same. */
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
  const core = placeOf(version);
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

/** Brings the code here that the release shares, where a snapshot has it and this machine has not. */
export async function bringCore(assets: string, release: Release): Promise<void> {
  const { core, wordpressVersion } = recordOf(release);
  if (core === null || (await exists(path.join(assets, core)))) return;
  const brought = path.join(release.folder, coreOfSnapshot);
  if (!(await exists(brought))) {
    throw new RuntimeFailure(`WordPress ${wordpressVersion}, which this was, is not kept here any more.`);
  }
  await keep(assets, core, brought);
}
