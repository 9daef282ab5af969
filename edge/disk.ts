/**
 * What is on the disk below a web root and the folders laid over it, and nothing outside them.
 *
 * The two questions are asked without leaving the event loop, as other web servers do: the answer is in the system's
 * memory nearly always and comes in microseconds, while a queue behind other visitors' reads would not.
 */
import { realpathSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import type { EdgeEnvironment } from "./tables/table.ts";

export interface Found {
  readonly kind: "file" | "directory";
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** The same as seen from the web root; differs from what was asked for where a link led elsewhere. */
  readonly segments: readonly string[];
  readonly facts: FileFacts;
}

/** Another file, or another content, has others. */
export interface FileFacts {
  /** In bytes. */
  readonly size: number;
  /** Milliseconds since 1970, with their fractions. */
  readonly modified: number;
  /** The same of whatever else is known of it, which nobody can set to another time. */
  readonly changed: number;
  readonly inode: number;
}

/** Null if there is nothing, nothing readable, or only a way out. */
export type Look = (segments: readonly string[]) => Promise<Found | null>;

interface Root {
  /** First folder in the web root that this one is laid over; null for the web root itself. */
  readonly over: string | null;
  readonly given: string;
  readonly real: string;
}

/** Finds where the roots really are on first use: a table with a thousand environments costs nothing when it comes. */
export function createLook(environment: Pick<EdgeEnvironment, "documentRoot" | "overlays">): Look {
  let known: Promise<readonly Root[]> | null = null;
  return async (segments) => {
    known ??= realRoots(environment);
    let roots: readonly Root[];
    try {
      roots = await known;
    } catch {
      // The web root itself is away; it may be back at the next request.
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
    // Absent, too long, a loop of links, not ours to read: all the same to a visitor.
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
