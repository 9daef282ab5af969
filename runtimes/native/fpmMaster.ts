/**
 * php-fpm for one environment: a master and its children, in a sandbox.
 *
 * Each slot is a pool of php-fpm with a socket and at most one child. So it is known which process works for which connection, and a
 * script that never ends can be killed without the others. A child starts with the first connection, and ends when it is idle.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { FastCgiConnection } from "./fastcgi/connection.ts";
import { descendantsOf, titleOf } from "./processTree.ts";
import { type Sandbox, sandboxed } from "./sandbox.ts";

export interface FpmOptions {
  /** Without the folder of the socket, which is added. */
  readonly sandbox: Sandbox;
  /** Path of php-fpm in the sandbox. */
  readonly program: string;
  /** New folder for the socket and the configuration, below a folder that is closed to others. */
  readonly folder: string;
  /** How many requests it can run at the same time. */
  readonly slots: number;
  /** Seconds after which the child of a slot without a connection ends. */
  readonly idleSeconds: number;
  /** PHP's settings, which scripts can't change. */
  readonly settings: Readonly<Record<string, string | number>>;
  /** Receives each line that the master logs about itself and its children. */
  readonly onLog: (line: string) => void;
}

const socketFolder = "/run/php";
const configurationFile = "/etc/php-fpm.conf";
const readyMark = "ready to handle connections";
/** Children that leak memory are replaced. */
const maxRequests = 1_000;

export class FpmMaster {
  /** Resolves when the master and all its children are gone. */
  readonly exited: Promise<void>;
  readonly #bubblewrap: ChildProcessByStdio<null, null, Readable>;

  readonly #sockets: string;

  private constructor(sockets: string, bubblewrap: ChildProcessByStdio<null, null, Readable>) {
    this.#sockets = sockets;
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
    const master = new FpmMaster(sockets, child);
    await untilReady(child, onLog);
    return master;
  }

  /** Connects to a slot, from 0. Its child belongs to the connection until that is closed. */
  connect(slot: number): FastCgiConnection {
    return new FastCgiConnection(path.join(this.#sockets, nameOf(slot)));
  }

  /** The id of a slot's child, or null if it has none at the moment. */
  pidOf(slot: number): number | null {
    const { pid } = this.#bubblewrap;
    const title = `php-fpm: pool ${nameOf(slot)}`;
    return pid === undefined ? null : (descendantsOf(pid).find((child) => titleOf(child) === title) ?? null);
  }

  /** Kills a slot's child in the middle of its script. The next connection gets another one. */
  killSlot(slot: number): void {
    const pid = this.pidOf(slot);
    if (pid !== null) process.kill(pid, "SIGKILL");
  }

  /** Kills the master and all its children. */
  kill(): void {
    this.#bubblewrap.kill("SIGKILL");
  }
}

const nameOf = (slot: number): string => `slot-${slot}`;

function configurationOf({ slots, idleSeconds, settings }: FpmOptions): string {
  const php = Object.entries(settings).map(([name, value]) => `php_admin_value[${name}] = "${value}"`);
  return [
    "[global]",
    "daemonize = no",
    // It logs to standard error, and still wants a file.
    "error_log = /dev/null",
    ...Array.from({ length: slots }, (_, slot) => [
      `[${nameOf(slot)}]`,
      `listen = ${socketFolder}/${nameOf(slot)}`,
      "pm = ondemand",
      "pm.max_children = 1",
      `pm.process_idle_timeout = ${idleSeconds}s`,
      `pm.max_requests = ${maxRequests}`,
      "clear_env = yes",
      "security.limit_extensions = .php",
      ...php,
    ]).flat(),
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
