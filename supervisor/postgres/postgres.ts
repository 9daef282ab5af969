/**
 * The embedded PostgreSQL server: a cluster in one folder, a socket in another, no network. It ends with the
 * process that started it, and starts again right after any kill of either.
 */
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ownFolder } from "../ownFolder.ts";
import { postgresBinaries } from "./postgresBinaries.ts";
import { makeCluster } from "./postgresCluster.ts";
import { handFolders } from "./postgresFolders.ts";
import { type PostgresExit, type PostgresProcess, spawnPostgres } from "./postgresProcess.ts";
import { type PostgresUser, postgresUser } from "./postgresUser.ts";

export interface PostgresPlace {
  /** The cluster's own folder; made where absent. Its parent may be closed to everybody but us. */
  readonly dataDirectory: string;
  /** A folder of ours for the socket; made where absent. Its path must be short (`config.run`). */
  readonly runDirectory: string;
  /** Called with every line that PostgreSQL logs. */
  readonly log?: (line: string) => void;
  /** How long to wait for what a killed server left behind to end. Milliseconds. */
  readonly patience?: number;
  /** PostgreSQL settings that replace ours. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface RunningPostgres {
  /** `postgresql://postgres@localhost:5432/postgres?host=<socket folder>` */
  readonly url: string;
  readonly pid: number;
  /** Ends connections and writes everything down; after a deadline less politely, without losing anything. */
  stop(): Promise<void>;
  /** Ends it at once; the next start repeats what was not written down. Nothing that was acknowledged is lost. */
  kill(): void;
  /** Resolves when the server has ended, for whatever reason. Never rejects. */
  readonly exited: Promise<PostgresExit>;
}

/** A machine allows 108 bytes for the path of a socket (104 on macOS), the name of PostgreSQL's included. */
const longestSocketFolder = 104 - "/.s.PGSQL.5432".length - 1;
const usualPatienceMs = 15_000;
const stopDeadlineMs = 20_000;

/** Durable as PostgreSQL is by default, with the memory and the disk of a small machine in mind. */
const settings = {
  listen_addresses: "",
  max_connections: "100",
  shared_buffers: "32MB",
  max_wal_size: "256MB",
  min_wal_size: "32MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  log_checkpoints: "off",
  io_method: "sync",
  jit: "off",
  log_timezone: "UTC",
  timezone: "UTC",
} as const;

/** Starts the server and resolves when it takes connections. Rejects with a sentence for the person and PostgreSQL's last words. */
export async function startPostgres(place: PostgresPlace): Promise<RunningPostgres> {
  const log = place.log ?? (() => undefined);
  const user = postgresUser();
  const native = postgresBinaries(user);
  ownFolder(place.runDirectory);
  const socketFolder = join(place.runDirectory, "postgres");
  if (Buffer.byteLength(socketFolder) > longestSocketFolder) {
    throw new Error(`The path ${socketFolder} is too long for a socket. Set TMPDIR to a folder with a shorter path.`);
  }
  await makeCluster({ directory: place.dataDirectory, native, user, log });
  const server = {
    cluster: place.dataDirectory,
    socketFolder,
    native,
    user,
    log,
    settings: { ...settings, ...place.settings },
  };
  const launch = () => launchServer(server);
  const running = await launchUntilFree(launch, place.dataDirectory, place.patience ?? usualPatienceMs);
  return {
    url: `postgresql://postgres@localhost:5432/postgres?host=${encodeURIComponent(socketFolder)}`,
    pid: running.child.pid ?? 0,
    exited: running.exited,
    stop: () => stopServer(running),
    kill: () => void running.child.kill("SIGQUIT"),
  };
}

interface ServerPlace {
  readonly cluster: string;
  readonly socketFolder: string;
  readonly native: string;
  readonly user: PostgresUser | null;
  readonly log: (line: string) => void;
  readonly settings: Readonly<Record<string, string>>;
}

type Launched = PostgresProcess | { readonly failed: PostgresExit };

async function launchServer(place: ServerPlace): Promise<Launched> {
  const folders = handFolders([place.cluster, place.socketFolder], place.user);
  const [cluster = "", socket = ""] = folders.names;
  const ready = Promise.withResolvers<"ready">();
  const all = { ...place.settings, unix_socket_directories: socket, unix_socket_permissions: "0700" };
  const server = spawnPostgres({
    command: join(place.native, "bin", "postgres"),
    parameters: ["-D", cluster, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    user: place.user,
    folders,
    log: (line) => {
      place.log(line);
      if (line.endsWith("database system is ready to accept connections")) {
        ready.resolve("ready");
      }
    },
  });
  folders.close();
  const first = await Promise.race([ready.promise, server.exited]);
  return first === "ready" ? server : { failed: first };
}

/** After a kill, what is left of the server before needs a moment to end: until then it is in the way. */
async function launchUntilFree(
  launch: () => Promise<Launched>,
  cluster: string,
  patience: number,
): Promise<PostgresProcess> {
  const giveUp = Date.now() + patience;
  for (;;) {
    const launched = await launch();
    if (!("failed" in launched)) {
      return launched;
    }
    const words = launched.failed.lastWords.join("\n");
    if (!/lock file ".*" already exists|pre-existing shared memory block/.test(words) || Date.now() > giveUp) {
      throw new Error(`PostgreSQL did not start on ${cluster}:\n${words || `exit code ${launched.failed.code}`}`);
    }
    if (!dropStaleLock(cluster)) {
      await delay(100);
    }
  }
}

/**
 * PostgreSQL believes its lock file when any process has the number in it, and after a restart of a machine
 * or a container some process may; so may one that has ended and that nobody collects. On Linux we can tell: a
 * living server on this cluster works in its folder.
 */
function dropStaleLock(cluster: string): boolean {
  const lock = join(cluster, "postmaster.pid");
  if (process.platform !== "linux" || !existsSync(lock)) {
    return false;
  }
  const holder = Number.parseInt(readFileSync(lock, "utf8"), 10);
  try {
    if (!hasEnded(holder) && isSameFolder(`/proc/${holder}/cwd`, cluster)) {
      return false;
    }
  } catch {
    // It is gone by now, or is none of ours to look at: PostgreSQL decides.
    return false;
  }
  rmSync(lock, { force: true });
  return true;
}

const hasEnded = (pid: number): boolean => /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

function isSameFolder(one: string, other: string): boolean {
  const [first, second] = [statSync(one), statSync(other)];
  return first.ino === second.ino && first.dev === second.dev;
}

async function stopServer(server: PostgresProcess): Promise<void> {
  for (const [signal, patience] of [
    ["SIGINT", stopDeadlineMs],
    ["SIGQUIT", 5_000],
    ["SIGKILL", 5_000],
  ] as const) {
    server.child.kill(signal);
    const ended = await Promise.race([server.exited, delay(patience, "waiting", { ref: false })]);
    if (ended !== "waiting") {
      return;
    }
  }
}
