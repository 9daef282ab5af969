/** How an environment's next release comes to be, is switched to and back, and how what nobody needs is removed. */
import { readFile, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { buildWhole, exists, moveIfThere, removeTree, syncFolder } from "./folders.ts";
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

function besideOf(live: string, number: number, token: string): string {
  return `${releaseFolder(live, number)}-${token}.new`;
}

/** Removes what a try has left that was killed before its release was whole, or before it was removed. */
async function removeHalfBuilt(live: string, token: string): Promise<void> {
  const { others } = await listReleases(live);
  for (const name of others) {
    if (/^\d+-(.+)\.new$/.exec(name)?.[1] === token) await removeTree(path.join(releasesFolder(live), name));
  }
}

/** A number that no release of this environment ever had, also none that was removed: workers know releases by it. */
async function takeNumber(live: string): Promise<number> {
  const file = path.join(live, "lastRelease");
  const last = Number(await readFile(file, "utf8").catch(() => "0"));
  const [{ releases }, current] = await Promise.all([listReleases(live), currentRelease(live)]);
  // The current one may be lost.
  const number = Math.max(last, current?.number ?? 0, ...releases.map((release) => release.number)) + 1;
  await writeFile(`${file}.new`, String(number), { flush: true });
  await rename(`${file}.new`, file);
  return number;
}

/**
 * Makes the release that is staged under this token, whole or not at all; one that is there already is left as it is.
 * `plan` looks whether it can be made and returns what fills its folder, record included.
 */
export async function stageRelease(
  live: string,
  token: string,
  plan: () => Promise<(folder: string) => Promise<void>>,
): Promise<void> {
  if (!/^[A-Za-z0-9-]+$/.test(token)) throw new Error("Not a token");
  await removeHalfBuilt(live, token);
  if ((await findRelease(live, token)) !== null) return;
  const fill = await plan();
  const number = await takeNumber(live);
  await buildWhole(releaseFolder(live, number), besideOf(live, number, token), fill);
}

/** Makes a part of a new release the one that another release has. */
export async function sharePart(part: Part, from: Release, folder: string): Promise<void> {
  const owner = path.basename(path.dirname(await partOf(from, part)));
  await symlink(path.join("..", owner, part), path.join(folder, part));
}

async function pointTo(live: string, number: number): Promise<void> {
  const beside = path.join(live, "current.new");
  await rm(beside, { force: true });
  await symlink(path.join("releases", String(number)), beside);
  await rename(beside, path.join(live, "current"));
  await syncFolder(live);
}

/** Throws if nothing is staged under the token. */
export async function switchTo(live: string, token: string): Promise<void> {
  const [current, next] = await Promise.all([currentRelease(live), findRelease(live, token)]);
  if (current === null || next === null) throw new Error(`Nothing is staged under ${token}.`);
  if (current.number === next.number) return;
  // Another one may have become the current one since this was staged.
  if (next.record.previous !== current.number) {
    await writeRecord(next.folder, { ...next.record, previous: current.number });
  }
  await pointTo(live, next.number);
}

/** Of a release that was pruned, parts may be left that others share. */
async function isWhole(folder: string): Promise<boolean> {
  const found = await Promise.all(parts.map((part) => exists(path.join(folder, part))));
  return found.every(Boolean);
}

export async function switchBack(live: string, token: string): Promise<void> {
  const { record } = (await currentRelease(live)) ?? {};
  if (record === undefined || record.token !== token || record.previous === null) return;
  if (await isWhole(releaseFolder(live, record.previous))) await pointTo(live, record.previous);
}

/** Out of sight by one rename, then removed at leisure. */
async function removeAtOnce(folder: string, doomed: string): Promise<void> {
  await removeTree(doomed);
  if (await moveIfThere(folder, doomed)) await removeTree(doomed);
}

async function remove(live: string, release: Release): Promise<void> {
  await removeAtOnce(release.folder, besideOf(live, release.number, release.record.token ?? "removed"));
}

async function removeStaged(live: string, token: string): Promise<void> {
  const staged = await stagedRelease(live, token);
  if (staged !== null) await remove(live, staged);
  await removeHalfBuilt(live, token);
}

function rehearsalOf(token: string): string {
  return `${token}-rehearsal`;
}

export async function unstage(live: string, token: string): Promise<void> {
  await removeStaged(live, rehearsalOf(token));
  await removeStaged(live, token);
}

/**
 * Makes a second release beside the one that is staged under the token, for which `fillFor` gives what fills its folder,
 * record included. An earlier one is replaced, because it was changed when it was tried out.
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
  if (made === null) throw new Error(`The rehearsal of ${token} is not there.`);
  return made;
}

/** Keeps of a release only the parts that others share. It is no longer a next or previous release. */
async function strip(live: string, release: Release, needed: ReadonlySet<string>): Promise<void> {
  const folder = await realpath(release.folder);
  const unneeded = parts.filter((part) => !needed.has(path.join(folder, part)));
  if (unneeded.length === parts.length) return remove(live, release);
  await writeRecord(folder, { ...release.record, token: null, previous: null });
  for (const part of unneeded) await removeAtOnce(path.join(folder, part), `${folder}-${part}.new`);
}

/** A folder beside the releases for work that may go on for an hour at most, whatever happens beside it. */
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

/** Null if it is lost, and nowhere else: what is taken to be needed by nobody is removed. */
async function partIfThere(release: Release, part: Part): Promise<string | null> {
  try {
    return await partOf(release, part);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Removes what neither the current release nor the one before it needs. */
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
