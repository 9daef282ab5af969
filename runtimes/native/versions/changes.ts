/** Adds folders and releases with PHP, and removes them. */
import { execFile } from "node:child_process";
import { access, constants, mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { withLock } from "../../assets/lock.ts";
import { buildAtomically, exists } from "../../folders.ts";
import {
  type AddedRoot,
  addedRoots,
  extractedSuites,
  isSuiteName,
  recordFolder,
  removeLeftovers,
  removeRoot,
  removeSuite,
  suiteFolder,
  suitesFolder,
} from "./addedRoots.ts";
import type { Mirrors } from "./aptSources.ts";
import { discoverPhp, inspectRoots } from "./discovery.ts";
import { enableExtensions } from "./extensionFiles.ts";
import { type PhpInstallation, type PhpRoot, UnusableRoot } from "./installation.ts";
import { extractSuite } from "./suite.ts";

const run = promisify(execFile);

export interface SuiteOptions {
  readonly mirrors: Mirrors;
  readonly signal: AbortSignal;
  /** Path of mmdebstrap. */
  readonly program?: string;
}

/**
 * Adds a folder, which stays where it is, or extracts a release. `folder`: where that is recorded. Returns what the place offers by
 * itself. Rejects with `UnusableRoot` if it offers nothing, and then changes nothing.
 */
export async function addPhp(
  folder: string,
  place: string,
  options: SuiteOptions,
): Promise<readonly PhpInstallation[]> {
  if (path.isAbsolute(place)) return whileLocked(folder, () => addFolder(folder, place));
  if (isSuiteName(place)) return whileLocked(folder, () => addSuite(folder, place, options));
  throw new UnusableRoot(
    `${place} is neither an absolute path nor the name of a release. Name a folder such as /opt/php, or a release such as trixie.`,
  );
}

/**
 * Removes what was added: `what` is a version, a folder or a release. Returns the names of what was removed. Rejects with
 * `UnusableRoot` if nothing matches. `check` gets the versions, such as `8.4`, that environments run from there, and rejects if it
 * must stay.
 */
export async function removePhp(
  folder: string,
  what: string,
  check: (versions: readonly string[]) => Promise<void> = async () => undefined,
): Promise<readonly string[]> {
  return whileLocked(folder, async () => {
    const roots = await addedRoots(folder);
    const removed: AddedRoot[] = [];
    for (const root of roots) if (root.name === what || (await hasVersion(root, what))) removed.push(root);
    if (removed.length === 0) {
      const added = roots.map(({ name }) => name).join(", ");
      throw new UnusableRoot(
        `${what} was not added, so it can't be removed. ${added === "" ? "Nothing was added." : `These were: ${added}.`}`,
      );
    }
    const { offered } = await discoverPhp({ folder });
    await check(offered.filter(({ root }) => removed.some((one) => one.folder === root)).map(({ version }) => version));
    for (const root of removed) await removeRoot(folder, root);
    return removed.map(({ name }) => name);
  });
}

async function hasVersion(root: PhpRoot, version: string): Promise<boolean> {
  const { offered } = await inspectRoots([root]);
  return offered.some((one) => one.version === version);
}

/** Only one process at a time changes the list of added folders. */
async function whileLocked<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    return await withLock(path.join(folder, "lock"), async () => {
      await removeLeftovers(folder);
      return work();
    });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EROFS")) throw error;
    throw new UnusableRoot(`${folder} is on a read-only file system. Mount it writable, or set SITEWRIGHT_DATA.`, {
      cause: error,
    });
  }
}

async function addFolder(folder: string, place: string): Promise<readonly PhpInstallation[]> {
  if (!(await exists(place))) throw new UnusableRoot(`${place} does not exist. Check the path.`);
  const added = await realpath(place);
  if (added === "/") throw new UnusableRoot("/ is this machine itself, whose PHP is found without being added.");
  const offered = await requireOffered({ folder: added, place: `in ${added}` });
  await recordFolder(folder, added);
  return offered;
}

/** Extracts the newest packages again if the release was added before. */
async function addSuite(folder: string, suite: string, options: SuiteOptions): Promise<readonly PhpInstallation[]> {
  const extracted = (await extractedSuites(folder)).filter((one) => one.suite === suite);
  const last = extracted.at(-1)?.number ?? 0;
  const target = suiteFolder(folder, { suite, number: last + 1 });
  const place = `of ${suite}`;
  await buildAtomically(target, path.join(suitesFolder(folder), `${suite}.new`), async (temporary) => {
    await extractSuite({ ...options, suite, folder: temporary });
    await enableExtensions(temporary);
    await requireOffered({ folder: temporary, place });
    // The rename must not reach the disk before the files.
    await run("sync", ["--file-system", temporary]);
  });
  for (const one of extracted) if (one.number < last) await removeSuite(folder, one);
  return requireOffered({ folder: target, place });
}

async function requireOffered(root: PhpRoot): Promise<readonly PhpInstallation[]> {
  const { offered, refused } = await inspectRoots([root]);
  if (offered.length === 0) throw new UnusableRoot(refused.join("\n"));
  return offered;
}
