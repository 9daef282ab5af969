/**
 * php-fpm for one environment: a master and its children, in a sandbox. Requests come by connections to its socket, each of which
 * has a child of its own.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { FastCgiConnection } from "./fastcgi/connection.ts";
import { type Sandbox, sandboxed } from "./sandbox.ts";

export interface FpmOptions {
  /** Without the folder of the socket, which is added. */
  readonly sandbox: Sandbox;
  /** Path of php-fpm in the sandbox. */
  readonly program: string;
  /** New folder for the socket and the configuration, below a folder that is closed to others. */
  readonly folder: string;
  readonly children: number;
  /** PHP's settings, which scripts can't change. */
  readonly settings: Readonly<Record<string, string | number>>;
  /** Receives each line that the master logs about itself and its children. */
  readonly onLog: (line: string) => void;
}

const socketFolder = "/run/php";
const socketName = "fpm.sock";
const configurationFile = "/etc/php-fpm.conf";
const readyMark = "ready to handle connections";
/** Children that leak memory are replaced. */
const maxRequests = 1_000;

export class FpmMaster {
  readonly socket: string;
  /** Resolves when the master and all its children are gone. */
  readonly exited: Promise<void>;
  readonly #bubblewrap: ChildProcessByStdio<null, null, Readable>;

  private constructor(socket: string, bubblewrap: ChildProcessByStdio<null, null, Readable>) {
    this.socket = socket;
    this.#bubblewrap = bubblewrap;
    this.exited = once(bubblewrap, "exit").then(() => undefined);
  }

  /** Resolves when it accepts connections. Rejects with its last lines if it ends before. */
  static async start(options: FpmOptions): Promise<FpmMaster> {
    const { sandbox, program, folder, onLog } = options;
    const [sockets, configuration] = [path.join(folder, "sockets"), path.join(folder, "fpm.conf")];
    await mkdir(sockets, { recursive: true, mode: 0o700 });
    if (process.getuid?.() === 0) await chown(sockets, sandbox.user, sandbox.user);
    await writeFile(configuration, configurationOf(options));
    const mounts = [
      ...sandbox.mounts,
      { from: sockets, to: socketFolder, isWritable: true },
      { from: configuration, to: configurationFile, isWritable: false },
    ];
    const fpm = [program, "--nodaemonize", "--force-stderr", "--fpm-config", configurationFile];
    const [command = "", ...parameters] = sandboxed({ ...sandbox, mounts }, fpm);
    const child = spawn(command, parameters, { stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env.PATH } });
    const master = new FpmMaster(path.join(sockets, socketName), child);
    await untilReady(child, onLog);
    return master;
  }

  /** A child of php-fpm belongs to the connection until it is closed. */
  connect(): FastCgiConnection {
    return new FastCgiConnection(this.socket);
  }

  /** Kills the master and all its children. */
  kill(): void {
    this.#bubblewrap.kill("SIGKILL");
  }
}

function configurationOf({ children, settings }: FpmOptions): string {
  const php = Object.entries(settings).map(([name, value]) => `php_admin_value[${name}] = "${value}"`);
  return [
    "[global]",
    "daemonize = no",
    // It logs to standard error, and still wants a file.
    "error_log = /dev/null",
    "[site]",
    `listen = ${socketFolder}/${socketName}`,
    "pm = static",
    `pm.max_children = ${children}`,
    `pm.max_requests = ${maxRequests}`,
    "clear_env = yes",
    // Which script runs is decided before; WordPress never has others.
    "security.limit_extensions = .php",
    ...php,
    "",
  ].join("\n");
}

async function untilReady({ stderr }: { readonly stderr: Readable }, onLog: FpmOptions["onLog"]): Promise<void> {
  const ready = Promise.withResolvers<void>();
  const first: string[] = [];
  const lines = createInterface({ input: stderr });
  lines.on("line", (line) => {
    if (line.includes(readyMark)) ready.resolve();
    else if (first.length < 20) first.push(line);
    onLog(line);
  });
  lines.on("close", () => ready.reject(new Error(`php-fpm ended: ${first.join(" ")}`)));
  await ready.promise;
}
