/**
 * An environment's releases on disk, for runtimes that keep files in folders:
 *
 *     <live>/current                     → releases/<n>
 *     <live>/releases/<n>/public         the web root
 *     <live>/releases/<n>/database       outside the web root
 *     <live>/releases/<n>/release.json   its record
 *     <live>/lastRelease                 the highest release number allocated so far
 *
 * A part shared with an earlier release is a link to that release's folder (`releases/2/public → ../1/public`), never to
 * another link. A release is staged while its record has a token and `current` doesn't point to it. Its number and paths
 * never change, so that a worker that has tried it out can continue after the switch.
 */
import { lstatSync } from "node:fs";
import { readdir, readFile, readlink, realpath, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { RuntimeFailure } from "./runtime.ts";

/** Identifies a release. Runtimes store their own facts in the same record. */
export interface ReleaseIdentity {
  /** The token it was staged under; null for an environment's first release. */
  readonly token: string | null;
  /** The release that was current before this one was staged or switched to. */
  readonly previous: number | null;
}

export type StoredRecord = ReleaseIdentity & Readonly<Record<string, unknown>>;

export interface Release {
  readonly number: number;
  readonly folder: string;
  readonly record: StoredRecord;
}

export const parts = ["public", "database"] as const;
export type Part = (typeof parts)[number];

export const firstRelease: ReleaseIdentity = { token: null, previous: null };

export function releasesFolder(live: string): string {
  return path.join(live, "releases");
}

export function releaseFolder(live: string, number: number): string {
  return path.join(releasesFolder(live), String(number));
}

function recordFile(folder: string): string {
  return path.join(folder, "release.json");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a record, or null if it is missing or damaged. */
async function parseRecord(folder: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(recordFile(folder), "utf8"));
  } catch (error) {
    const isLost =
      error instanceof SyntaxError || (error instanceof Error && "code" in error && error.code === "ENOENT");
    if (isLost) return null;
    throw error;
  }
}

/**
 * Reads the record of a release. Token and previous release are null for releases of earlier versions of Sitewright,
 * and for missing or damaged records, so that another release can still be switched to.
 */
async function readRecord(folder: string): Promise<StoredRecord> {
  const parsed = await parseRecord(folder);
  if (!isRecord(parsed)) return { ...firstRelease };
  const { token, previous } = parsed;
  return {
    ...parsed,
    token: typeof token === "string" ? token : null,
    previous: typeof previous === "number" ? previous : null,
  };
}

/** Writes the record of a release atomically. Only the server may read it. */
export async function writeRecord(folder: string, record: ReleaseIdentity): Promise<void> {
  const file = recordFile(folder);
  await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}

async function readRelease(live: string, number: number): Promise<Release> {
  const folder = releaseFolder(live, number);
  return { number, folder, record: await readRecord(folder) };
}

/** Reads a release outside of any environment, such as a snapshot. */
export async function releaseIn(folder: string): Promise<Release> {
  return { number: 0, folder, record: await readRecord(folder) };
}

async function currentNumber(live: string): Promise<number | null> {
  const link = await readlink(path.join(live, "current")).catch(() => null);
  return link === null ? null : Number(path.basename(link));
}

/** When a release was last made current, in milliseconds since 1970. Throws if the environment doesn't exist. */
export function linkChangedAt(live: string): number {
  return lstatSync(path.join(live, "current")).ctimeMs;
}

/**
 * Returns the current release, or null if the environment doesn't exist. Parts or all of the release may be missing on
 * disk.
 */
export async function currentRelease(live: string): Promise<Release | null> {
  const number = await currentNumber(live);
  return number === null ? null : readRelease(live, number);
}

/** Returns the current release. Throws `RuntimeFailure` if the environment doesn't exist. */
export async function requireRelease(live: string): Promise<Release> {
  const release = await currentRelease(live);
  if (release === null) throw new RuntimeFailure("The environment no longer exists.");
  return release;
}

/**
 * Waits for `reading`, which reads the release that was current when it began. Rejects with `RuntimeFailure` if the
 * environment was switched or removed meanwhile: the result may mix two releases, or be incomplete.
 */
export async function requireStillCurrent<T>(live: string, { number }: Release, reading: Promise<T>): Promise<T> {
  const [read] = await Promise.allSettled([reading]);
  const now = await currentNumber(live);
  if (now !== number) {
    const cause = read.status === "rejected" ? read.reason : undefined;
    const sentence = now === null ? "The environment no longer exists." : "The environment was replaced meanwhile.";
    throw new RuntimeFailure(sentence, { cause });
  }
  return reading;
}

/** Lists the complete releases by number, and the names of everything else in their folder. */
export async function listReleases(
  live: string,
): Promise<{ readonly releases: readonly Release[]; readonly others: readonly string[] }> {
  const names = await readdir(releasesFolder(live)).catch(() => []);
  const isNumber = (name: string) => /^\d+$/.test(name);
  const numbers = names.filter(isNumber).map(Number);
  const releases = await Promise.all(numbers.toSorted((a, b) => a - b).map((number) => readRelease(live, number)));
  return { releases, others: names.filter((name) => !isNumber(name)) };
}

/** Finds the release that was staged under this token, whether it has become the current one or not. */
export async function findRelease(live: string, token: string): Promise<Release | null> {
  const { releases } = await listReleases(live);
  return releases.find(({ record }) => record.token === token) ?? null;
}

/** Finds the release staged under this token, or null if there is none or it has become the current one. */
export async function stagedRelease(live: string, token: string): Promise<Release | null> {
  const [current, found] = await Promise.all([currentRelease(live), findRelease(live, token)]);
  return found?.number === current?.number ? null : found;
}

/**
 * Returns the web root of the release staged under this token, or of the current release if `token` is null. Throws
 * `RuntimeFailure` if there is no such release, or if another release shares its files.
 */
export async function ownWebRoot(live: string, token: string | null): Promise<string> {
  const release = await (token === null ? currentRelease(live) : stagedRelease(live, token));
  if (release === null) throw new RuntimeFailure("The new release no longer exists.");
  const [webRoot, folder] = await Promise.all([partOf(release, "public"), realpath(release.folder)]);
  if (path.dirname(webRoot) !== folder)
    throw new RuntimeFailure("The new release shares its files with another release.");
  return webRoot;
}

/** Resolves the real path of a part of a release. */
export function partOf(release: Pick<Release, "folder">, part: Part): Promise<string> {
  return realpath(path.join(release.folder, part));
}
