/**
 * The roots that the operator has added, recorded in one folder:
 *
 * - `folders.json`: folders that belong to somebody else.
 * - `suites/<release>-<number>/`: releases of Debian that were extracted here. The highest number of a release is the one in use;
 *   the one before stays, because PHP may be running from it.
 */
import { open, readdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { exists, removeTree, renameIfExists, syncFolder } from "../../folders.ts";
import type { PhpRoot } from "./installation.ts";

export interface AddedRoot extends PhpRoot {
  /** What the operator has added: an absolute path, or the name of a release. */
  readonly name: string;
}

interface Extracted {
  readonly suite: string;
  readonly number: number;
}

const recordOf = (folder: string): string => path.join(folder, "folders.json");

/** Where releases are extracted. */
export const suitesFolder = (folder: string): string => path.join(folder, "suites");

export const suiteFolder = (folder: string, { suite, number }: Extracted): string =>
  path.join(suitesFolder(folder), `${suite}-${number}`);

/** Whether a word can be the name of a release. */
export const isSuiteName = (word: string): boolean => /^[a-z]+$/.test(word);

/** Returns releases in alphabetical order, then folders as they were added. Rejects if the record can't be read. */
export async function addedRoots(folder: string): Promise<readonly AddedRoot[]> {
  const extracted = await extractedSuites(folder);
  const newest = new Map(extracted.map((one) => [one.suite, one]));
  const suites = [...newest.values()].map((one) => ({
    name: one.suite,
    folder: suiteFolder(folder, one),
    place: `of ${one.suite}`,
  }));
  const folders = await recordedFolders(folder);
  return [...suites, ...folders.map((one) => ({ name: one, folder: one, place: `in ${one}` }))];
}

/** By name, then number. */
export async function extractedSuites(folder: string): Promise<readonly Extracted[]> {
  const names = (await exists(suitesFolder(folder))) ? await readdir(suitesFolder(folder)) : [];
  const found = names.flatMap((name) => {
    const [, suite, number] = /^([a-z]+)-(\d+)$/.exec(name) ?? [];
    return suite === undefined ? [] : [{ suite, number: Number(number) }];
  });
  return found.toSorted((one, other) => one.suite.localeCompare(other.suite, "en") || one.number - other.number);
}

async function recordedFolders(folder: string): Promise<readonly string[]> {
  const file = recordOf(folder);
  if (!(await exists(file))) return [];
  const content = await readFile(file, "utf8");
  const folders = parse(content);
  if (folders === null) throw new Error(`${file} is damaged. Remove it, and add the folders with PHP again.`);
  return folders;
}

function parse(content: string): readonly string[] | null {
  try {
    const value: unknown = JSON.parse(content);
    return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : null;
  } catch {
    return null;
  }
}

/** Only one process may change the record at a time. */
export async function recordFolder(folder: string, added: string): Promise<void> {
  const folders = await recordedFolders(folder);
  if (!folders.includes(added)) await write(folder, [...folders, added]);
}

/** Removes a folder from the record, or an extracted release from the disk. Only one process may do that at a time. */
export async function removeRoot(folder: string, { name }: AddedRoot): Promise<void> {
  if (!isSuiteName(name))
    return write(
      folder,
      (await recordedFolders(folder)).filter((one) => one !== name),
    );
  for (const one of await extractedSuites(folder)) if (one.suite === name) await removeSuite(folder, one);
}

/** A release disappears at once. */
export async function removeSuite(folder: string, extracted: Extracted): Promise<void> {
  const removing = `${suiteFolder(folder, extracted)}.removing`;
  if (await renameIfExists(suiteFolder(folder, extracted), removing)) await removeTree(removing);
}

/** Removes what a killed process has left. Only the process that may change the record may call it. */
export async function removeLeftovers(folder: string): Promise<void> {
  if (!(await exists(suitesFolder(folder)))) return;
  for (const name of await readdir(suitesFolder(folder)))
    if (name.includes(".")) await removeTree(path.join(suitesFolder(folder), name));
}

async function write(folder: string, folders: readonly string[]): Promise<void> {
  const temporary = `${recordOf(folder)}.new`;
  const handle = await open(temporary, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(folders, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, recordOf(folder));
  await syncFolder(folder);
}
