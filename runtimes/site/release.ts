/** The facts that are recorded about a release, and its layout for the edge. */
import path from "node:path";
import { isDiskFull } from "../copy.ts";
import { giveTo } from "../folderOwner.ts";
import { environmentFolders, exists } from "../folders.ts";
import { ownerOf } from "../owner.ts";
import { partOf, parts, type Release, type ReleaseIdentity, releaseIn, requireRelease } from "../releases.ts";
import {
  DiskFull,
  type EnvironmentLayout,
  type EnvironmentRef,
  type MultisiteKind,
  type SnapshotFolder,
} from "../runtime.ts";
import { sharedFolders } from "./sharedCode.ts";
import type { DatabaseOf } from "./siteDatabase.ts";

export { releaseFolder } from "../releases.ts";

export interface ReleaseFacts {
  /** Null: PHP without WordPress. */
  readonly wordpressVersion: string | null;
  readonly multisite: MultisiteKind | null;
  /** Folder of WordPress's shared code, relative to the asset store; null if there is no WordPress. */
  readonly core: string | null;
}

export type ReleaseRecord = ReleaseIdentity & ReleaseFacts;

function hasFacts(record: object): record is ReleaseRecord {
  return "wordpressVersion" in record && "multisite" in record && "core" in record;
}

/** Returns the record of a release. Throws if it is damaged. */
export function recordOf({ record, folder }: Release): ReleaseRecord {
  if (!hasFacts(record)) throw new Error(`The release in ${folder} is damaged.`);
  return record;
}

/** Whether a part or the record of a release is missing. */
export async function isIncomplete({ record, folder }: Release): Promise<boolean> {
  const found = await Promise.all(parts.map((part) => exists(path.join(folder, part))));
  return !hasFacts(record) || found.includes(false);
}

/** The database of a release. */
export async function databaseOf(of: DatabaseOf["of"], release: Release): Promise<DatabaseOf> {
  const hasWordPress = recordOf(release).wordpressVersion !== null;
  return { of, folder: await partOf(release, "database"), hasWordPress };
}

/** Returns the release to copy from: an environment's current one, or a snapshot's. */
export async function sourceRelease(source: EnvironmentRef | SnapshotFolder, environments: string): Promise<Release> {
  return "folder" in source ? releaseIn(source.folder) : requireRelease(environmentFolders(environments, source).live);
}

/** Returns the top-level folders of the web root that all environments share. */
export function sharedFoldersOf({ core }: ReleaseFacts): readonly string[] {
  return core === null ? [] : sharedFolders;
}

export async function layoutOf(release: Release, assets: string): Promise<EnvironmentLayout> {
  const { core, multisite, wordpressVersion } = recordOf(release);
  const overlays = core === null ? [] : sharedFolders.map((name) => [name, path.join(assets, core, name)]);
  return {
    release: release.number,
    documentRoot: await partOf(release, "public"),
    overlays: Object.fromEntries(overlays),
    multisite,
    wordpressVersion,
  };
}

/** Makes the environment's user the owner of the folder and its content, if the server runs as root. */
export async function giveToEnvironment({ number }: Pick<EnvironmentRef, "number">, folder: string): Promise<void> {
  if (process.getuid?.() === 0) await giveTo(ownerOf(number), folder);
}

/** Runs `work`. If the disk is full, throws `DiskFull` with a message for the customer. */
export async function reportFullDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDiskFull(error)) throw new DiskFull("There is not enough room on the server's disk.", { cause: error });
    throw error;
  }
}
