/**
 * The embedded PostgreSQL server, reachable only by a Unix socket. It ends with the process that started it, and can be
 * started again right after either was killed.
 */
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ensureOwnedFolder } from "../ownedFolder.ts";
import { postgresBinaries } from "./postgresBinaries.ts";
import { ensureCluster } from "./postgresCluster.ts";
import { openInheritedFolders } from "./postgresFolders.ts";
import { type PostgresExit, type PostgresProcess, spawnPostgres } from "./postgresProcess.ts";
import { type PostgresUser, postgresUser } from "./postgresUser.ts";

interface PostgresOptions {
  /** Folder of the cluster, created if missing. Its parent may be closed to other users. */
  readonly dataDirectory: string;
  /** Folder of the socket, created if missing. Its path must be short (`config.run`). */
  readonly runDirectory: string;
  /** Called with every line that PostgreSQL logs. */
  readonly log?: (line: string) => void;
  /** How long to wait for the remaining processes of a killed server to end. Milliseconds. */
  readonly orphanTimeoutMs?: number;
  /** PostgreSQL settings that replace ours. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface RunningPostgres {
  /** `postgresql://postgres@localhost:5432/postgres?host=<socket folder>` */
  readonly url: string;
  readonly pid: number;
  /** Closes connections and shuts down cleanly; kills the server after a deadline. No committed data is lost. */
  stop(): Promise<void>;
  /** Ends the server at once. The next start recovers from the write-ahead log; no committed data is lost. */
  kill(): void;
  /** Resolves when the server has ended, for any reason. Never rejects. */
  readonly exited: Promise<PostgresExit>;
}

/** Linux limits the path of a socket to 108 bytes, macOS to 104. */
const maxSocketFolder = 104 - "/.s.PGSQL.5432".length - 1;
const defaultOrphanTimeoutMs = 15_000;
const stopTimeoutMs = 20_000;

/** For a small machine. Durability settings keep PostgreSQL's defaults. */
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

/**
 * Starts the server and resolves when it accepts connections. Rejects with a user-facing error and PostgreSQL's last
 * output.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const log = options.log ?? (() => undefined);
  const user = postgresUser();
  const native = postgresBinaries(user);
  ensureOwnedFolder(options.runDirectory);
  const socketFolder = join(options.runDirectory, "postgres");
  if (Buffer.byteLength(socketFolder) > maxSocketFolder) {
    throw new Error(`The path ${socketFolder} is too long for a socket. Set TMPDIR to a folder with a shorter path.`);
  }
  await ensureCluster({ directory: options.dataDirectory, native, user, log });
  const allSettings = { ...settings, ...options.settings };
  const launch = () =>
    launchServer({ cluster: options.dataDirectory, socketFolder, native, user, log, settings: allSettings });
  const timeoutMs = options.orphanTimeoutMs ?? defaultOrphanTimeoutMs;
  const server = await launchAfterOrphans(launch, options.dataDirectory, timeoutMs);
  return {
    url: `postgresql://postgres@localhost:5432/postgres?host=${encodeURIComponent(socketFolder)}`,
    pid: server.child.pid ?? 0,
    exited: server.exited,
    stop: () => stopServer(server),
    kill: () => void server.child.kill("SIGQUIT"),
  };
}

interface ServerOptions {
  readonly cluster: string;
  readonly socketFolder: string;
  readonly native: string;
  readonly user: PostgresUser | null;
  readonly log: (line: string) => void;
  readonly settings: Readonly<Record<string, string>>;
}

type LaunchResult = PostgresProcess | { readonly failed: PostgresExit };

async function launchServer(options: ServerOptions): Promise<LaunchResult> {
  const folders = openInheritedFolders([options.cluster, options.socketFolder], options.user);
  const [cluster = "", socket = ""] = folders.names;
  const ready = Promise.withResolvers<"ready">();
  const all = { ...options.settings, unix_socket_directories: socket, unix_socket_permissions: "0700" };
  const server = spawnPostgres({
    command: join(options.native, "bin", "postgres"),
    parameters: ["-D", cluster, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    user: options.user,
    folders,
    log: (line) => {
      options.log(line);
      if (line.endsWith("database system is ready to accept connections")) {
        ready.resolve("ready");
      }
    },
  });
  folders.close();
  const first = await Promise.race([ready.promise, server.exited]);
  return first === "ready" ? server : { failed: first };
}

/** Retries while processes of a killed server still hold the cluster's lock file or shared memory. */
async function launchAfterOrphans(
  launch: () => Promise<LaunchResult>,
  cluster: string,
  timeoutMs: number,
): Promise<PostgresProcess> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const launched = await launch();
    if (!("failed" in launched)) {
      return launched;
    }
    const output = launched.failed.lastLines.join("\n");
    if (!/lock file ".*" already exists|pre-existing shared memory block/.test(output) || Date.now() > deadline) {
      throw new Error(`PostgreSQL did not start on ${cluster}:\n${output || `exit code ${launched.failed.code}`}`);
    }
    if (!removeStaleLock(cluster)) {
      await delay(100);
    }
  }
}

/**
 * PostgreSQL trusts its lock file if any process has the recorded process id. After a restart of the machine or
 * container that may be an unrelated process, or a zombie. On Linux we can tell: the working directory of a live server
 * is its cluster.
 */
function removeStaleLock(cluster: string): boolean {
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
    // The process has just ended, or we may not inspect it. PostgreSQL decides.
    return false;
  }
  rmSync(lock, { force: true });
  return true;
}

const hasEnded = (pid: number): boolean => /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

/** Same inode on the same device. */
function isSameFolder(one: string, other: string): boolean {
  const [first, second] = [statSync(one), statSync(other)];
  return first.ino === second.ino && first.dev === second.dev;
}

async function stopServer(server: PostgresProcess): Promise<void> {
  for (const [signal, timeoutMs] of [
    ["SIGINT", stopTimeoutMs],
    ["SIGQUIT", 5_000],
    ["SIGKILL", 5_000],
  ] as const) {
    server.child.kill(signal);
    const ended = await Promise.race([server.exited, delay(timeoutMs, "timeout", { ref: false })]);
    if (ended !== "timeout") {
      return;
    }
  }
}
