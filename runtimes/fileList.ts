/** Lists of files that a person wants copied: each is looked at before anything is done. */
import { lstat } from "node:fs/promises";
import path from "node:path";
import { RuntimeFailure } from "./runtime.ts";

function refuse(listed: string, reason: string): never {
  throw new RuntimeFailure(`"${listed}" can't be copied: ${reason}.`);
}

/** The segments of a path that stays below the web root, by its letters. */
function segmentsOf(listed: string): readonly string[] {
  if (listed === "") refuse(listed, "a path may not be empty");
  if (listed.includes("\0")) refuse(listed.replaceAll("\0", "\\0"), "a path may not contain the character NUL");
  if (listed.includes("\\")) refuse(listed, "folders are separated by / in a path");
  if (listed.startsWith("/")) refuse(listed, "a path begins below the web root, without a /");
  const segments = listed.replace(/\/$/, "").split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    refuse(listed, "a path may not contain empty parts, . or ..");
  }
  return segments;
}

async function checkThere(root: string, listed: string, segments: readonly string[]): Promise<void> {
  for (const count of segments.keys()) {
    const facts = await lstat(path.join(root, ...segments.slice(0, count + 1))).catch(() => null);
    if (facts === null) refuse(listed, "the source has no such file");
    if (facts.isSymbolicLink()) refuse(listed, "it leads through a symbolic link");
    const isLast = count === segments.length - 1;
    if (!facts.isDirectory() && !(isLast && facts.isFile())) refuse(listed, "the source has no such file");
  }
}

/**
 * The list as paths below `root`, none with a slash at its end. Throws `RuntimeFailure` that names the first path which
 * isn't there or may not be copied. `shared`: first folders of the web root that belong to all environments.
 */
export async function checkFiles(
  root: string,
  files: readonly string[],
  shared: readonly string[],
): Promise<readonly string[]> {
  const checked: string[] = [];
  for (const listed of files) {
    const segments = segmentsOf(listed);
    if (shared.some((name) => name === segments[0])) {
      refuse(listed, "it is WordPress's own code, which all environments share");
    }
    await checkThere(root, listed, segments);
    checked.push(segments.join("/"));
  }
  return checked;
}
