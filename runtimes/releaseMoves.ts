/**
 * Stages the next release of an environment, switches to it and back, and removes releases that are no longer needed.
 */
import { readFile, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { buildAtomically, exists, removeTree, renameIfExists, syncFolder } from "./folders.ts";
import {
  currentRelease,
  findRelease,
  listReleases,
  type Part,
  partOf,
  parts,
  type Release,
  releaseFolder,
  releasesFolder,
  stagedRelease,
  writeRecord,
} from "./releases.ts";

function temporaryFolder(live: string, number: number, token: string): string {
  return `${releaseFolder(live, number)}-${token}.new`;
}

/** Removes leftovers of an attempt that was killed while building or removing a release. */
async function removePartial(live: string, token: string): Promise<void> {
  const { others } = await listReleases(live);
  for (const name of others) {
    if (/^\d+-(.+)\.new$/.exec(name)?.[1] === token) await removeTree(path.join(releasesFolder(live), name));
  }
}

/**
 * Allocates a number that no release of this environment ever had, removed ones included: workers identify releases by
 * number.
 */
async function nextNumber(live: string): Promise<number> {
  const file = path.join(live, "lastRelease");
  const last = Number(await readFile(file, "utf8").catch(() => "0"));
  const [{ releases }, current] = await Promise.all([listReleases(live), currentRelease(live)]);
  // The current release may be missing on disk.
  const number = Math.max(last, current?.number ?? 0, ...releases.map((release) => release.number)) + 1;
  await writeFile(`${file}.new`, String(number), { flush: true });
  await rename(`${file}.new`, file);
  return number;
}

/**
 * Builds the release for this token atomically, unless it exists. `plan` checks that it can be built and returns the
 * function that fills its folder, record included.
 */
export async function stageRelease(
  live: string,
  token: string,
  plan: () => Promise<(folder: string) => Promise<void>>,
): Promise<void> {
  if (!/^[A-Za-z0-9-]+$/.test(token)) throw new Error("Not a token");
  await removePartial(live, token);
  if ((await findRelease(live, token)) !== null) return;
  const fill = await plan();
  const number = await nextNumber(live);
  await buildAtomically(releaseFolder(live, number), temporaryFolder(live, number, token), fill);
}

/** Links a part of a new release to the same part of another release. */
export async function sharePart(part: Part, from: Release, folder: string): Promise<void> {
  const owner = path.basename(path.dirname(await partOf(from, part)));
  await symlink(path.join("..", owner, part), path.join(folder, part));
}

async function pointTo(live: string, number: number): Promise<void> {
  const link = path.join(live, "current.new");
  await rm(link, { force: true });
  await symlink(path.join("releases", String(number)), link);
  await rename(link, path.join(live, "current"));
  await syncFolder(live);
}

/** Makes the staged release the current one. Throws if nothing is staged under the token. */
export async function switchTo(live: string, token: string): Promise<void> {
  const [current, next] = await Promise.all([currentRelease(live), findRelease(live, token)]);
  if (current === null || next === null) throw new Error(`Nothing is staged under ${token}.`);
  if (current.number === next.number) return;
  // Another release may have become the current one since this one was staged.
  if (next.record.previous !== current.number) {
    await writeRecord(next.folder, { ...next.record, previous: current.number });
  }
  await pointTo(live, next.number);
}

/** Whether all parts of a release exist. A pruned release may have kept parts that others share. */
async function isComplete(folder: string): Promise<boolean> {
  const found = await Promise.all(parts.map((part) => exists(path.join(folder, part))));
  return found.every(Boolean);
}

export async function switchBack(live: string, token: string): Promise<void> {
  const { record } = (await currentRelease(live)) ?? {};
  if (record === undefined || record.token !== token || record.previous === null) return;
  if (await isComplete(releaseFolder(live, record.previous))) await pointTo(live, record.previous);
}

/** Hides the folder by one rename, then removes it. */
async function hideAndRemove(folder: string, hidden: string): Promise<void> {
  await removeTree(hidden);
  if (await renameIfExists(folder, hidden)) await removeTree(hidden);
}

async function remove(live: string, release: Release): Promise<void> {
  await hideAndRemove(release.folder, temporaryFolder(live, release.number, release.record.token ?? "removed"));
}

async function removeStaged(live: string, token: string): Promise<void> {
  const staged = await stagedRelease(live, token);
  if (staged !== null) await remove(live, staged);
  await removePartial(live, token);
}

function rehearsalOf(token: string): string {
  return `${token}-rehearsal`;
}

export async function unstage(live: string, token: string): Promise<void> {
  await removeStaged(live, rehearsalOf(token));
  await removeStaged(live, token);
}

/**
 * Copies the staged release into a second one to try it out. `fillFor` returns the function that fills its folder,
 * record included. An earlier copy is replaced, because trying it out has changed it.
 */
export async function rehearseRelease(
  live: string,
  token: string,
  fillFor: (staged: Release, rehearsal: string) => (folder: string) => Promise<void>,
): Promise<Release> {
  const staged = await stagedRelease(live, token);
  if (staged === null) throw new Error(`Nothing is staged under ${token}.`);
  const rehearsal = rehearsalOf(token);
  await removeStaged(live, rehearsal);
  await stageRelease(live, rehearsal, async () => fillFor(staged, rehearsal));
  const made = await findRelease(live, rehearsal);
  if (made === null) throw new Error(`The rehearsal of ${token} does not exist.`);
  return made;
}

/** Reduces a release to the parts that others share. It is no longer a next or previous release. */
async function strip(live: string, release: Release, needed: ReadonlySet<string>): Promise<void> {
  const folder = await realpath(release.folder);
  const unneeded = parts.filter((part) => !needed.has(path.join(folder, part)));
  if (unneeded.length === parts.length) return remove(live, release);
  await writeRecord(folder, { ...release.record, token: null, previous: null });
  for (const part of unneeded) await hideAndRemove(path.join(folder, part), `${folder}-${part}.new`);
}

/** A folder next to the releases for temporary work. `prune` removes it after an hour. */
export function scratchFolder(live: string, name: string): string {
  return path.join(releasesFolder(live), `scratch-${name}.new`);
}

const hour = 3_600_000;

async function removeLeftovers(live: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const folder = path.join(releasesFolder(live), name);
    const facts = name.startsWith("scratch-") ? await stat(folder).catch(() => null) : null;
    if (facts === null || facts.mtimeMs < Date.now() - hour) await removeTree(folder);
  }
}

/**
 * Returns the path of a part, or null if it is missing. Rejects on any other error: parts not known to be needed are
 * removed.
 */
async function partIfThere(release: Release, part: Part): Promise<string | null> {
  try {
    return await partOf(release, part);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Removes releases, and parts of them, that neither the current release nor the previous one needs. */
export async function prune(live: string): Promise<void> {
  const current = await currentRelease(live);
  if (current === null) return;
  const { releases, others } = await listReleases(live);
  const isKept = ({ number }: Release) => number === current.number || number === current.record.previous;
  const kept = releases.filter(isKept).flatMap((release) => parts.map((part) => partIfThere(release, part)));
  const needed = new Set((await Promise.all(kept)).flatMap((part) => part ?? []));
  for (const release of releases.filter((each) => !isKept(each))) await strip(live, release, needed);
  await removeLeftovers(live, others);
}
