/**
 * An environment's releases on disk, for runtimes that keep files in folders:
 *
 *     <live>/current                     → releases/<n>
 *     <live>/releases/<n>/public         the web root
 *     <live>/releases/<n>/database       outside of it
 *     <live>/releases/<n>/release.json   what it is made of
 *     <live>/lastRelease                 the highest number that was given to a release so far
 *
 * A part that a release shares with an earlier one is a link to that one's folder (`releases/2/public → ../1/public`),
 * never to another link. A release is staged as long as its record has a token and `current` doesn't lead to it; it has
 * its number and its paths from the beginning, so that whoever has tried it out can go on with it after the switch.
 */
import { readdir, readFile, readlink, realpath, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { RuntimeFailure } from "./runtime.ts";

/** How a release is found again. A runtime's own facts stand beside these. */
export interface ReleaseIdentity {
  /** What it was staged under; null for an environment's first release. */
  readonly token: string | null;
  /** The release that was current before this one, or is now. */
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

/** Null if the record is lost, or was damaged. */
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
 * Releases of earlier versions of Sitewright have neither token nor previous one. A release that is lost or damaged says nothing
 * at all: something else can still take its place.
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

/** In the place of an earlier one at once. What a release is made of is for the server only. */
export async function writeRecord(folder: string, record: ReleaseIdentity): Promise<void> {
  const file = recordFile(folder);
  await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}

async function readRelease(live: string, number: number): Promise<Release> {
  const folder = releaseFolder(live, number);
  return { number, folder, record: await readRecord(folder) };
}

/** One that lies outside of any environment, as a snapshot does. */
export async function releaseIn(folder: string): Promise<Release> {
  return { number: 0, folder, record: await readRecord(folder) };
}

async function currentNumber(live: string): Promise<number | null> {
  const link = await readlink(path.join(live, "current")).catch(() => null);
  return link === null ? null : Number(path.basename(link));
}

/** Null if the environment is not there. Of what is current, parts or all may be lost. */
export async function currentRelease(live: string): Promise<Release | null> {
  const number = await currentNumber(live);
  return number === null ? null : readRelease(live, number);
}

/**
 * Waits for work that reads the release, which was the current one when it began. Rejects with `RuntimeFailure` if another
 * one has taken its place meanwhile, or the environment was removed: what was read may be of both, or not all that there was.
 */
export async function stillCurrent<T>(live: string, { number }: Release, reading: Promise<T>): Promise<T> {
  const [read] = await Promise.allSettled([reading]);
  const now = await currentNumber(live);
  if (now !== number) {
    const cause = read.status === "rejected" ? read.reason : undefined;
    const sentence =
      now === null ? "The environment is not there any more." : "The environment was replaced meanwhile.";
    throw new RuntimeFailure(sentence, { cause });
  }
  return reading;
}

/** Every whole release by number, and the names of what else lies beside them. */
export async function listReleases(
  live: string,
): Promise<{ readonly releases: readonly Release[]; readonly others: readonly string[] }> {
  const names = await readdir(releasesFolder(live)).catch(() => []);
  const isNumber = (name: string) => /^\d+$/.test(name);
  const numbers = names.filter(isNumber).map(Number);
  const releases = await Promise.all(numbers.toSorted((a, b) => a - b).map((number) => readRelease(live, number)));
  return { releases, others: names.filter((name) => !isNumber(name)) };
}

/** The release that was staged under this token, whether it has become the current one or not. */
export async function findRelease(live: string, token: string): Promise<Release | null> {
  const { releases } = await listReleases(live);
  return releases.find(({ record }) => record.token === token) ?? null;
}

/** Null also where the release has become the current one. */
export async function stagedRelease(live: string, token: string): Promise<Release | null> {
  const [current, found] = await Promise.all([currentRelease(live), findRelease(live, token)]);
  return found?.number === current?.number ? null : found;
}

/**
 * Web root of what is staged under the token, or, for null, of the current release. `RuntimeFailure` where there is none, or
 * another release has it too.
 */
export async function ownWebRoot(live: string, token: string | null): Promise<string> {
  const release = await (token === null ? currentRelease(live) : stagedRelease(live, token));
  if (release === null) throw new RuntimeFailure("What was built is not there any more.");
  const [webRoot, folder] = await Promise.all([partOf(release, "public"), realpath(release.folder)]);
  if (path.dirname(webRoot) !== folder) throw new RuntimeFailure("What was built has no files of its own.");
  return webRoot;
}

/** Where a part of a release really is. */
export function partOf(release: Pick<Release, "folder">, part: Part): Promise<string> {
  return realpath(path.join(release.folder, part));
}
