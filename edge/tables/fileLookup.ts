/**
 * Finds files and folders below a web root and its overlays, and never outside them.
 *
 * The two system calls are synchronous, as in other web servers: the result is nearly always in the system's cache and
 * takes microseconds, while an asynchronous call may queue behind other visitors' reads.
 */
import { realpathSync, type Stats, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import type { EdgeEnvironment } from "./table.ts";

export interface FoundFile {
  readonly kind: "file" | "directory";
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Path below the web root. Differs from the requested path if a symbolic link led elsewhere. */
  readonly segments: readonly string[];
  readonly version: FileVersion;
}

/** Identifies a version of a file: a different file or changed content has different values. */
export interface FileVersion {
  /** In bytes. */
  readonly size: number;
  /** Modification time in milliseconds since 1970, with fractions. */
  readonly modified: number;
  /** Time of the last change to content or metadata (ctime), which programs can't set. Same unit. */
  readonly changed: number;
  readonly inode: number;
}

export function versionOf({ size, mtimeMs, ctimeMs, ino }: Stats): FileVersion {
  return { size, modified: mtimeMs, changed: ctimeMs, inode: ino };
}

export function isSameVersion(a: FileVersion, b: FileVersion): boolean {
  return a.size === b.size && a.inode === b.inode && a.modified === b.modified && a.changed === b.changed;
}

/** Finds a file or folder. Null if it is missing, not readable, or outside the roots. */
export type LookUp = (segments: readonly string[]) => Promise<FoundFile | null>;

interface Root {
  /** The folder of the web root that this one replaces; null for the web root itself. */
  readonly overlay: string | null;
  readonly path: string;
  readonly realPath: string;
}

/** Resolves the roots' real paths on first use, so that a new table with a thousand environments costs nothing. */
export function createFileLookup(environment: Pick<EdgeEnvironment, "documentRoot" | "overlays">): LookUp {
  let resolvedRoots: Promise<readonly Root[]> | null = null;
  return async (segments) => {
    resolvedRoots ??= resolveRoots(environment);
    let roots: readonly Root[];
    try {
      roots = await resolvedRoots;
    } catch {
      // The web root is missing. Try again at the next request.
      resolvedRoots = null;
      return null;
    }
    return lookUpBelow(roots, segments);
  };
}

function lookUpBelow(roots: readonly Root[], segments: readonly string[]): FoundFile | null {
  const overlay = roots.find((root) => root.overlay !== null && root.overlay === segments[0]);
  const base = overlay ?? roots.find((root) => root.overlay === null);
  if (base === undefined) return null;
  try {
    const real = realpathSync.native(path.join(base.path, ...(overlay ? segments.slice(1) : segments)));
    const below = relativeToWebRoot(roots, real);
    if (below === null) return null;
    const stats = statSync(real);
    const kind = stats.isFile() ? "file" : stats.isDirectory() ? "directory" : null;
    return kind === null ? null : { kind, path: real, segments: below, version: versionOf(stats) };
  } catch {
    // Missing, too long, a loop of links, no permission: the same for a visitor.
    return null;
  }
}

function relativeToWebRoot(roots: readonly Root[], real: string): readonly string[] | null {
  for (const root of roots) {
    const below =
      real === root.realPath
        ? ""
        : real.startsWith(root.realPath + path.sep)
          ? real.slice(root.realPath.length + 1)
          : null;
    if (below === null) continue;
    const segments = below === "" ? [] : below.split(path.sep);
    return root.overlay === null ? segments : [root.overlay, ...segments];
  }
  return null;
}

function resolveRoots(environment: Pick<EdgeEnvironment, "documentRoot" | "overlays">): Promise<readonly Root[]> {
  const roots = [
    ...Object.entries(environment.overlays).map(([overlay, folder]) => ({ overlay, path: folder })),
    { overlay: null, path: environment.documentRoot },
  ];
  return Promise.all(roots.map(async (root) => ({ ...root, realPath: await realpath(root.path) })));
}
