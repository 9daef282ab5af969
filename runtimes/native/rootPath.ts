/** Finds files in a folder that processes see as `/`, where those processes find them. */
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import path from "node:path";

/** As many as Linux follows. */
const maxLinks = 40;

const namesIn = (file: string): string[] => file.split("/").filter((name) => name !== "" && name !== ".");

const unreachable = ["ENOENT", "ENOTDIR", "EACCES"];

function factsOf(file: string): Stats | null {
  try {
    return lstatSync(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && unreachable.includes(String(error.code))) return null;
    throw error;
  }
}

/**
 * Follows the symbolic links in a path, as a process does whose `/` is `root`: none leads out of it. Returns the path without links,
 * which begins at `root`, or null if there is no such file, or this process can't reach it.
 */
export function pathInRoot(root: string, file: string): string | null {
  const names = namesIn(file);
  let found = "/";
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === "..") {
      found = path.dirname(found);
      continue;
    }
    const next = path.join(found, name);
    const facts = factsOf(path.join(root, next));
    if (facts === null) return null;
    if (!facts.isSymbolicLink()) {
      found = next;
      continue;
    }
    links += 1;
    if (links > maxLinks) return null;
    const target = readlinkSync(path.join(root, next));
    if (target.startsWith("/")) found = "/";
    names.unshift(...namesIn(target));
  }
  return found;
}

/** As `pathInRoot`, but returns the path on the machine. */
export function fileInRoot(root: string, file: string): string | null {
  const found = pathInRoot(root, file);
  return found === null ? null : path.join(root, found);
}
