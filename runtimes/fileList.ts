/** Validates the list of files that a customer wants copied, before anything is copied. */
import { lstat } from "node:fs/promises";
import path from "node:path";
import { RuntimeFailure } from "./runtime.ts";

function refuse(listed: string, reason: string): never {
  throw new RuntimeFailure(`"${listed}" can't be copied: ${reason}.`);
}

/** Splits a relative path into its segments. Refuses paths that could leave the web root. */
function segmentsOf(listed: string): readonly string[] {
  if (listed === "") refuse(listed, "a path must not be empty");
  if (listed.includes("\0")) refuse(listed.replaceAll("\0", "\\0"), "a path must not contain the NUL character");
  if (listed.includes("\\")) refuse(listed, "use / to separate folders");
  if (listed.startsWith("/")) refuse(listed, "a path is relative to the web root and does not begin with /");
  const segments = listed.replace(/\/$/, "").split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    refuse(listed, "a path must not contain empty segments, . or ..");
  }
  return segments;
}

async function checkExists(root: string, listed: string, segments: readonly string[]): Promise<void> {
  for (const count of segments.keys()) {
    const facts = await lstat(path.join(root, ...segments.slice(0, count + 1))).catch(() => null);
    if (facts === null) refuse(listed, "the source has no such file");
    if (facts.isSymbolicLink()) refuse(listed, "it contains a symbolic link");
    const isLast = count === segments.length - 1;
    if (!facts.isDirectory() && !(isLast && facts.isFile())) refuse(listed, "the source has no such file");
  }
}

/**
 * Returns the list as paths below `root` without trailing slashes. Throws `RuntimeFailure` naming the first path that
 * doesn't exist or must not be copied. `shared`: top-level folders of the web root that all environments share.
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
      refuse(listed, "it is WordPress core, which all environments share");
    }
    await checkExists(root, listed, segments);
    checked.push(segments.join("/"));
  }
  return checked;
}
