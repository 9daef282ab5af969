/** What a release of the playground is made of, and what the edge must know to serve it. */
import path from "node:path";
import { environmentFolders, exists } from "../../folders.ts";
import { currentRelease, partOf, parts, type Release, type ReleaseIdentity, releaseIn } from "../../releases.ts";
import {
  type EnvironmentLayout,
  type EnvironmentRef,
  type MultisiteKind,
  NoRoom,
  RuntimeFailure,
  type SnapshotFolder,
} from "../../runtime.ts";
import { sharedFolders } from "../php/site.ts";
import { databaseFile } from "../templates/template.ts";
import { giveTo, isDiskFull } from "./copy/copy.ts";

export { releaseFolder } from "../../releases.ts";

export interface ReleaseFacts {
  /** Null: PHP without WordPress. */
  readonly wordpressVersion: string | null;
  readonly multisite: MultisiteKind | null;
  /** Folder of WordPress's shared code, relative to the asset store; null if there is no WordPress. */
  readonly core: string | null;
}

export type ReleaseRecord = ReleaseIdentity & ReleaseFacts;

/** Unprivileged, and one for each environment: nobody else's files are theirs, and theirs nobody else's. */
export function ownerOf(number: number): number {
  return 200_000 + number;
}

function hasFacts(record: object): record is ReleaseRecord {
  return "wordpressVersion" in record && "multisite" in record && "core" in record;
}

/** Throws if the record has been damaged. */
export function recordOf({ record, folder }: Release): ReleaseRecord {
  if (!hasFacts(record)) throw new Error(`The release in ${folder} is damaged.`);
  return record;
}

/** Whether a part of it is missing, or its origin is unknown. */
export async function isLost({ record, folder }: Release): Promise<boolean> {
  const found = await Promise.all(parts.map((part) => exists(path.join(folder, part))));
  return !hasFacts(record) || found.includes(false);
}

/** The database that tables are looked for in; there may be others beside it. */
export function mainDatabase({ wordpressVersion }: ReleaseFacts): string {
  return wordpressVersion === null ? "database.sqlite" : databaseFile;
}

/** The current release. Throws `RuntimeFailure` if the environment is not there. */
export async function requireRelease(live: string): Promise<Release> {
  const release = await currentRelease(live);
  if (release === null) throw new RuntimeFailure("The environment is not there any more.");
  return release;
}

/** What a copy is made of: what an environment is now, or what it was when a snapshot was made of it. */
export async function sourceRelease(source: EnvironmentRef | SnapshotFolder, environments: string): Promise<Release> {
  return "folder" in source ? releaseIn(source.folder) : requireRelease(environmentFolders(environments, source).live);
}

/** First folders of the web root that are the same for every environment. */
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

/** Where the server may, everything below belongs to the environment's own user. */
export async function giveToEnvironment({ number }: Pick<EnvironmentRef, "number">, folder: string): Promise<void> {
  if (process.getuid?.() === 0) await giveTo(ownerOf(number), folder);
}

/** Says it in a sentence where `work` found the disk full. */
export async function tellFullDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDiskFull(error)) throw new NoRoom("There is not enough room on the server's disk.", { cause: error });
    throw error;
  }
}
