/** Creates PostgreSQL's data folder (the cluster) atomically. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openInheritedFolders } from "./postgresFolders.ts";
import { spawnPostgres } from "./postgresProcess.ts";
import type { PostgresUser } from "./postgresUser.ts";

interface ClusterOptions {
  readonly directory: string;
  /** Folder of PostgreSQL's programs. */
  readonly native: string;
  readonly user: PostgresUser | null;
  readonly log: (line: string) => void;
}

/** Major version of the packaged programs. */
const major = "18";

/** Creates the cluster if missing. Throws if the folder contains other files or a cluster of another version. */
export async function ensureCluster(options: ClusterOptions): Promise<void> {
  removeIncomplete(options.directory);
  const marker = join(options.directory, "PG_VERSION");
  if (existsSync(marker)) {
    checkVersion(options.directory, readFileSync(marker, "utf8").trim());
    return;
  }
  if (existsSync(options.directory) && readdirSync(options.directory).length > 0) {
    throw new Error(`${options.directory} contains files, but no PostgreSQL cluster. Move it away, then start again.`);
  }
  // A unique name: an initdb process that outlived its killed parent may still be writing to an earlier one.
  const temporary = `${options.directory}.init-${process.pid}`;
  await initialise(options, temporary);
  renameSync(temporary, options.directory);
}

function checkVersion(directory: string, version: string): void {
  if (version !== major) {
    throw new Error(
      `${directory} was created by PostgreSQL ${version}, but this is PostgreSQL ${major}. ` +
        "Start the version of Sitewright that created it, or set DATABASE_URL to a server with a copy of the data.",
    );
  }
}

function removeIncomplete(directory: string): void {
  const parent = dirname(directory);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent)) {
    if (name.startsWith(`${basename(directory)}.init-`)) {
      rmSync(join(parent, name), { recursive: true, force: true });
    }
  }
}

async function initialise(options: ClusterOptions, temporary: string): Promise<void> {
  const folders = openInheritedFolders([temporary], options.user);
  const [name = temporary] = folders.names;
  // The same on every machine: text sorts by code point, and case mapping follows Unicode.
  const locale = ["--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const parameters = ["-D", name, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-k", "--no-instructions", ...locale];
  const initdb = spawnPostgres({
    command: join(options.native, "bin", "initdb"),
    parameters,
    user: options.user,
    folders,
    log: options.log,
  });
  folders.close();
  const { code, lastLines } = await initdb.exited;
  if (code !== 0) {
    rmSync(temporary, { recursive: true, force: true });
    throw new Error(describeFailure(options.directory, lastLines.join("\n")));
  }
}

/** Returns what initdb says, and what to do about a user without a name, as in some containers. */
function describeFailure(directory: string, output: string): string {
  const hasNoName = output.includes("could not look up effective user ID");
  const advice = hasNoName
    ? "\nStart Sitewright as a user that /etc/passwd names, for example one made with useradd."
    : "";
  return `PostgreSQL could not create its folder ${directory}:\n${output}${advice}`;
}
