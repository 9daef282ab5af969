/** Compares the files of two sites before a push. */
import path from "node:path";
import type { FileChanges, StageChanges } from "../../runtime.ts";
import { type OwnFile, ownFiles, type Selection, select, unlessGone } from "../webRoot.ts";
import { sameContent } from "./sameContent.ts";

const maxListed = 100;

function summary(files: readonly (readonly [name: string, file: OwnFile])[]): FileChanges {
  const found = files.map(([name, { bytes }]) => ({ path: name, bytes }));
  return {
    count: found.length,
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    listed: found.toSorted((one, other) => (one.path < other.path ? -1 : 1)).slice(0, maxListed),
  };
}

interface Side {
  readonly root: string;
  readonly file: OwnFile;
}

/** Compares two files. Also false for a file that has vanished meanwhile. */
async function isEqual(name: string, own: Side, source: Side): Promise<boolean> {
  if (own.file.bytes !== source.file.bytes) return false;
  if (own.file.modifiedMilliseconds === source.file.modifiedMilliseconds) return true;
  return (await unlessGone(sameContent(path.join(own.root, name), path.join(source.root, name)))) ?? false;
}

/** Lists files by name, without links: copies don't contain any. */
async function sidesIn(root: string, selection: Selection): Promise<Map<string, Side>> {
  const files = [...(await ownFiles(root, selection))].filter(([, { isLink }]) => !isLink);
  return new Map(files.map(([name, file]) => [name, { root, file }]));
}

/**
 * Compares the files of two web roots, given by absolute path. Symbolic links are neither followed nor listed: a push
 * drops them. Files of equal size and modification time count as equal, as elsewhere in the runtime. `only`: these
 * files, and everything below these folders, relative to the web root. `rewritten`: a folder with files that the push
 * would write instead of the source's files of the same name. Changed files are listed with their new size.
 */
export async function compareFiles(
  own: string,
  source: string,
  only: readonly string[] | null,
  rewritten: string | null = null,
): Promise<StageChanges["files"]> {
  const selection = select(only);
  const [ours, theirs, replacements] = await Promise.all([
    sidesIn(own, selection),
    sidesIn(source, selection),
    rewritten === null ? new Map<string, Side>() : sidesIn(rewritten, selection),
  ]);
  const added: [string, OwnFile][] = [];
  const changed: [string, OwnFile][] = [];
  for (const [name, theirSide] of theirs) {
    const before = ours.get(name);
    const after = replacements.get(name) ?? theirSide;
    if (before === undefined) added.push([name, after.file]);
    else if (!(await isEqual(name, before, after))) changed.push([name, after.file]);
  }
  const removed = [...ours].filter(([name]) => !theirs.has(name)).map(([name, { file }]) => [name, file] as const);
  return { added: summary(added), changed: summary(changed), removed: summary(removed) };
}
