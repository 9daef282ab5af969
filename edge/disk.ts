/**
 * Finds files and folders below a web root and its overlays, and never outside them.
 *
 * The two system calls are synchronous, as in other web servers: the result is nearly always in the system's cache and
 * takes microseconds, while an asynchronous call may queue behind other visitors' reads.
 */
import { realpathSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import type { EdgeEnvironment } from "./tables/table.ts";

export interface Found {
  readonly kind: "file" | "directory";
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Path below the web root. Differs from the requested path if a symbolic link led elsewhere. */
  readonly segments: readonly string[];
  readonly facts: FileFacts;
}

/** Identifies a version of a file: a different file or changed content has different values. */
export interface FileFacts {
  /** In bytes. */
  readonly size: number;
  /** Modification time in milliseconds since 1970, with fractions. */
  readonly modified: number;
  /** Time of the last change to content or metadata (ctime), which programs can't set. Same unit. */
  readonly changed: number;
  readonly inode: number;
}

/** Finds a file or folder. Null if it is missing, not readable, or outside the roots. */
export type Look = (segments: readonly string[]) => Promise<Found | null>;

interface Root {
  /** The folder of the web root that this one replaces; null for the web root itself. */
  readonly over: string | null;
  readonly given: string;
  readonly real: string;
}

/** Resolves the roots' real paths on first use, so that a new table with a thousand environments costs nothing. */
export function createLook(environment: Pick<EdgeEnvironment, "documentRoot" | "overlays">): Look {
  let known: Promise<readonly Root[]> | null = null;
  return async (segments) => {
    known ??= realRoots(environment);
    let roots: readonly Root[];
    try {
      roots = await known;
    } catch {
      // The web root is missing. Try again at the next request.
      known = null;
      return null;
    }
    return lookBelow(roots, segments);
  };
}

function lookBelow(roots: readonly Root[], segments: readonly string[]): Found | null {
  const overlay = roots.find((root) => root.over !== null && root.over === segments[0]);
  const base = overlay ?? roots.find((root) => root.over === null);
  if (base === undefined) return null;
  try {
    const real = realpathSync.native(path.join(base.given, ...(overlay ? segments.slice(1) : segments)));
    const inside = seenFromWebRoot(roots, real);
    if (inside === null) return null;
    const stats = statSync(real);
    const kind = stats.isFile() ? "file" : stats.isDirectory() ? "directory" : null;
    const facts = { size: stats.size, modified: stats.mtimeMs, changed: stats.ctimeMs, inode: stats.ino };
    return kind === null ? null : { kind, path: real, segments: inside, facts };
  } catch {
    // Missing, too long, a loop of links, no permission: the same for a visitor.
    return null;
  }
}

function seenFromWebRoot(roots: readonly Root[], real: string): readonly string[] | null {
  for (const root of roots) {
    const below =
      real === root.real ? "" : real.startsWith(root.real + path.sep) ? real.slice(root.real.length + 1) : null;
    if (below === null) continue;
    const segments = below === "" ? [] : below.split(path.sep);
    return root.over === null ? segments : [root.over, ...segments];
  }
  return null;
}

function realRoots(environment: Pick<EdgeEnvironment, "documentRoot" | "overlays">): Promise<readonly Root[]> {
  const given = [
    ...Object.entries(environment.overlays).map(([over, folder]) => ({ over, given: folder })),
    { over: null, given: environment.documentRoot },
  ];
  return Promise.all(given.map(async (root) => ({ ...root, real: await realpath(root.given) })));
}
