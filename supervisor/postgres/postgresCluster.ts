/** The folder that PostgreSQL keeps its tables in: made whole or not at all. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { handFolders } from "./postgresFolders.ts";
import { spawnPostgres } from "./postgresProcess.ts";
import type { PostgresUser } from "./postgresUser.ts";

interface ClusterPlace {
  readonly directory: string;
  /** The folder of PostgreSQL's programs. */
  readonly native: string;
  readonly user: PostgresUser | null;
  readonly log: (line: string) => void;
}

/** The major version of the packaged programs. */
const major = "18";

/** Makes the cluster where there is none. Throws if the folder holds something else, or another version's cluster. */
export async function makeCluster(place: ClusterPlace): Promise<void> {
  removeHalfMade(place.directory);
  const marker = join(place.directory, "PG_VERSION");
  if (existsSync(marker)) {
    checkVersion(place.directory, readFileSync(marker, "utf8").trim());
    return;
  }
  if (existsSync(place.directory) && readdirSync(place.directory).length > 0) {
    throw new Error(`${place.directory} holds files, but no PostgreSQL cluster. Move it away, then start again.`);
  }
  // A name of its own: an initdb whose starter was killed may still be writing to the one before.
  const fresh = `${place.directory}.init-${process.pid}`;
  await initialise(place, fresh);
  renameSync(fresh, place.directory);
}

function checkVersion(directory: string, version: string): void {
  if (version !== major) {
    throw new Error(
      `${directory} was made by PostgreSQL ${version}, and this is PostgreSQL ${major}. ` +
        "Start the version of Sitewright that made it, or set DATABASE_URL to a server with a copy of the data.",
    );
  }
}

function removeHalfMade(directory: string): void {
  const parent = dirname(directory);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent)) {
    if (name.startsWith(`${basename(directory)}.init-`)) {
      rmSync(join(parent, name), { recursive: true, force: true });
    }
  }
}

async function initialise(place: ClusterPlace, fresh: string): Promise<void> {
  const folders = handFolders([fresh], place.user);
  const [name = fresh] = folders.names;
  // Text is ordered by code point and case is Unicode's, the same on every machine.
  const locale = ["--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const parameters = ["-D", name, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-k", "--no-instructions", ...locale];
  const initdb = spawnPostgres({
    command: join(place.native, "bin", "initdb"),
    parameters,
    user: place.user,
    folders,
    log: place.log,
  });
  folders.close();
  const { code, lastWords } = await initdb.exited;
  if (code !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`PostgreSQL could not make its folder ${place.directory}:\n${lastWords.join("\n")}`);
  }
}
