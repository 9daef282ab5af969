/**
 * WordPress core in versions other than the asset store's. Each version is stored once next to the asset store, and shared
 * by all environments that use it. Archives of such environments contain the core code, so that they can be restored on a
 * machine without that version, even if it is no longer published.
 *
 * Archives don't contain the version that came with Sitewright, which would double the size of a first backup. It is taken
 * from any place where that version is stored, so archives from before a Sitewright upgrade can be restored after it, on
 * this machine or on another one with that version. `docs/decisions/moving.md` describes the other cases.
 */
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { withLock } from "../assets/lock.ts";
import { readManifest } from "../assets/manifest.ts";
import { copyFolders, linkLive } from "../copy.ts";
import { buildAtomically, exists, removeTree } from "../folders.ts";
import { ownWebRoot, type Release, stagedRelease, writeRecord } from "../releases.ts";
import { type NewWordPress, RuntimeFailure } from "../runtime.ts";
import { isOwnerFile } from "../wordpressFiles.ts";
import { type ReleaseFacts, type ReleaseRecord, recordOf } from "./release.ts";
import { sharedFolders } from "./sharedCode.ts";

const coresFolder = "cores";
/** Folder in a snapshot for core code that did not come with Sitewright. */
const snapshotCore = "core";
const versionPattern = /^\d+(\.\d+)+(-[A-Za-z0-9.]+)?$/;

/** Hashes names and content of the shared code. */
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

/**
 * Returns the path of a version below the asset store. The fingerprint distinguishes a damaged package from the
 * repaired one of the same version.
 */
async function corePath({ version, folder }: NewWordPress): Promise<string> {
  if (!versionPattern.test(version)) throw new RuntimeFailure(`${version} is not a WordPress version.`);
  return path.join(coresFolder, `${version}-${await fingerprintOf(folder)}`);
}

/** Whether a folder name stands for this version. Earlier versions of Sitewright used the version alone as name. */
function isFolderOf(version: string | null, name: string): boolean {
  return name.replace(/-[0-9a-f]{16}$/, "") === version;
}

/** Stores the shared folders of `folder`, unless they are stored already. Safe in several processes at once. */
async function storeCore(assets: string, core: string, folder: string): Promise<void> {
  const target = path.join(assets, core);
  const build = async (temporary: string) => {
    await copyFolders(
      sharedFolders.map((name) => path.join(folder, name)),
      temporary,
    );
    await chmod(temporary, 0o755);
  };
  await withLock(`${target}.lock`, () => buildAtomically(target, `${target}.new`, build));
}

/** Replaces WordPress's files in the web root itself; the site's own files stay. Returns the paths of the new files. */
async function replaceRootFiles(webRoot: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const files = names.filter((name) => !isOwnerFile(name));
  for (const name of files) {
    // The site may have replaced it by a folder or a link.
    await removeTree(path.join(webRoot, name));
    await copyFile(path.join(folder, name), path.join(webRoot, name));
  }
  return files.map((name) => path.join(webRoot, name));
}

/** Changes the WordPress version of the release that is staged under the token. Idempotent. */
export async function installWordPress(
  live: string,
  token: string,
  { version, folder }: NewWordPress,
  { assets, takeOwnership }: { readonly assets: string; readonly takeOwnership: (file: string) => Promise<void> },
): Promise<void> {
  const webRoot = await ownWebRoot(live, token);
  const release = await stagedRelease(live, token);
  if (release === null || recordOf(release).core === null) {
    throw new RuntimeFailure("The new release has no WordPress.");
  }
  const core = await corePath({ version, folder });
  await storeCore(assets, core, folder);
  for (const file of await replaceRootFiles(webRoot, folder)) await takeOwnership(file);
  const record: ReleaseRecord = { ...recordOf(release), wordpressVersion: version, core };
  await writeRecord(release.folder, record);
}

/** Adds the core code to a snapshot, unless it came with the asset store. */
export async function addCoreToSnapshot(assets: string, { core }: ReleaseFacts, snapshot: string): Promise<void> {
  if (core?.split(path.sep)[0] !== coresFolder) return;
  const folder = path.join(snapshot, snapshotCore);
  await mkdir(folder);
  for (const name of sharedFolders) await linkLive(path.join(assets, core, name), path.join(folder, name));
}

/** When a version was stored. */
async function storedAt(folder: string): Promise<number> {
  return (await stat(folder)).mtimeMs;
}

/**
 * Returns the path below the asset store where a version is stored, or null: the one that came with Sitewright, or else
 * the latest.
 */
async function findCore(assets: string, version: string | null): Promise<string | null> {
  const names = await readdir(assets).catch(() => []);
  const shipped = names.find((name) => readManifest(path.join(assets, name))?.wordpressVersion === version);
  if (shipped !== undefined) return path.join(shipped, "core");
  const stored = (await readdir(path.join(assets, coresFolder)).catch(() => [])).filter((name) =>
    isFolderOf(version, name),
  );
  const times = await Promise.all(
    stored.map(async (name) => ({ name, time: await storedAt(path.join(assets, coresFolder, name)) })),
  );
  const [newest] = times.toSorted((a, b) => b.time - a.time);
  return newest === undefined ? null : path.join(coresFolder, newest.name);
}

interface SharedCode {
  readonly folder: string;
  /** Path below the asset store; null if only the snapshot has it. */
  readonly core: string | null;
}

/**
 * Finds the shared code of a release: at its recorded path, in the snapshot, or wherever that version is stored. Null
 * if there is no WordPress. Throws `RuntimeFailure` if the code is not available.
 */
export async function sharedCodeOf(assets: string, release: Release): Promise<SharedCode | null> {
  const { core, wordpressVersion } = recordOf(release);
  if (core === null) return null;
  if (await exists(path.join(assets, core))) return { folder: path.join(assets, core), core };
  const inSnapshot = path.join(release.folder, snapshotCore);
  if (await exists(inSnapshot)) return { folder: inSnapshot, core: null };
  const found = await findCore(assets, wordpressVersion);
  if (found !== null) return { folder: path.join(assets, found), core: found };
  throw new RuntimeFailure(
    `WordPress ${wordpressVersion}, which this site used, is no longer available here. To get it back, the operator can ` +
      "restore the installation with the Sitewright version of that time, and then upgrade it.",
  );
}

/** Stores the core code of a release in the asset store if only the snapshot has it. Returns its path there. */
export async function importCore(assets: string, release: Release): Promise<string | null> {
  const { core } = recordOf(release);
  const found = await sharedCodeOf(assets, release);
  if (core === null || found === null || found.core !== null) return found?.core ?? null;
  await storeCore(assets, core, found.folder);
  return core;
}
