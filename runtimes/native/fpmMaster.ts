/**
 * php-fpm for one environment: a master and its children, in a sandbox.
 *
 * Each slot is a pool of php-fpm with a socket and at most one child. So the child of each connection is known, and a script that
 * never ends can be killed without the others. A child starts with the first connection, and ends when it is idle.
 */
import { statfsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createLineReader } from "../pool/lines.ts";
import { FastCgiConnection } from "./fastcgi/connection.ts";
import { FpmSockets } from "./fpmSockets.ts";
import { childrenOf, commandLineOf, descendantsOf, killIfAlive } from "./processTree.ts";
import type { Sandbox } from "./sandbox.ts";
import { settingLine } from "./settingLine.ts";
import { firstInherited, killSandbox, type SandboxedProcess, spawnSandboxed } from "./spawnSandboxed.ts";

export interface FpmOptions {
  readonly sandbox: Sandbox;
  /** Path of php-fpm in the sandbox. */
  readonly program: string;
  /** New folder for the sockets and the configuration, below a folder that is closed to others. */
  readonly folder: string;
  /** How many requests it can run at the same time. */
  readonly slots: number;
  /** Seconds after which the child of a slot without a connection ends. */
  readonly idleSeconds: number;
  /** PHP's settings, which scripts can't change. */
  readonly settings: Settings;
  /** The same, for one slot. */
  readonly slotSettings?: (slot: number) => Settings;
  /** Receives each line that the master logs about itself and its children. */
  readonly onLog: (line: string) => void;
  /** How long php-fpm may take to start. */
  readonly startMilliseconds?: number;
}

type Settings = Readonly<Record<string, string | number>>;

/** php-fpm knows its sockets by these paths, at which nothing is. */
const socketFolder = "/run/php";
const configurationFile = "/etc/php-fpm.conf";
const readyMark = "ready to handle connections";
const defaultStartMilliseconds = 30_000;
/** Longer messages of PHP are cut. */
const maxLineBytes = 65_536;
const endMilliseconds = 5;
/** Longer than the child of a slot without a connection is kept. */
const maxEndMilliseconds = 20_000;
/** Lines that a failed start is reported with. */
const reportedLines = 20;

const nameOf = (slot: number): string => `slot-${slot}`;

export class FpmMaster {
  /** Resolves when the master, its children and everything that they have started are gone. */
  readonly exited: Promise<void>;
  readonly #bubblewrap: SandboxedProcess;
  readonly #sockets: string;
  /** By slot. */
  readonly #lastChildren = new Map<number, number>();

  private constructor(sockets: string, bubblewrap: SandboxedProcess) {
    this.#sockets = sockets;
    this.#bubblewrap = bubblewrap;
    this.exited = new Promise((resolve) => {
      bubblewrap.once("error", () => resolve());
      bubblewrap.once("exit", () => resolve());
    });
  }

  /** Resolves when it accepts connections. Otherwise rejects with the reason, and leaves no process. */
  static async start(options: FpmOptions): Promise<FpmMaster> {
    const { sandbox, program, folder, onLog, startMilliseconds = defaultStartMilliseconds } = options;
    const [sockets, configuration] = [path.join(folder, "sockets"), path.join(folder, "fpm.conf")];
    await mkdir(sockets, { recursive: true, mode: 0o700 });
    await writeFile(configuration, configurationOf(options));
    await chmod(configuration, 0o644);
    const mounts = [...sandbox.mounts, { from: configuration, to: configurationFile, isWritable: false }];
    const names = Array.from({ length: options.slots }, (_, slot) => nameOf(slot));
    const inherited = await FpmSockets.open(names.map((name) => path.join(sockets, name)));
    const variable = names.map((name, slot) => `${socketFolder}/${name}=${firstInherited + slot}`).join(",");
    const variables = { ...sandbox.variables, FPM_SOCKETS: variable };
    const fpm = [program, "--nodaemonize", "--force-stderr", "--fpm-config", configurationFile];
    const child = startWith(inherited, (descriptors) =>
      spawnSandboxed({ ...sandbox, mounts, variables }, fpm, ["ignore", "ignore"], descriptors),
    );
    const master = new FpmMaster(sockets, child);
    try {
      await untilReady(child, onLog, startMilliseconds);
      return master;
    } catch (error) {
      master.kill();
      await master.exited;
      throw error;
    }
  }

  /** Connects to a slot, from 0. Its child belongs to the connection until that is closed. */
  connect(slot: number): FastCgiConnection {
    return new FastCgiConnection(path.join(this.#sockets, nameOf(slot)));
  }

  /** The id of a slot's child, or null if it has none at the moment. */
  pidOf(slot: number): number | null {
    const title = `php-fpm: pool ${nameOf(slot)}`;
    const pid = this.#masterChildren().find((child) => commandLineOf(child) === title) ?? null;
    if (pid !== null) this.#lastChildren.set(slot, pid);
    return pid;
  }

  /**
   * Kills a slot's child in the middle of its script, with what the script has started, and programs that other scripts have left
   * behind. The next connection gets another child.
   */
  killSlot(slot: number): void {
    const pid = this.pidOf(slot) ?? this.#lastChild(slot);
    const roots = [...(pid === null ? [] : [pid]), ...this.#orphans()];
    for (const each of roots.flatMap((root) => [root, ...descendantsOf(root)])) killIfAlive(each);
  }

  /** Resolves when a slot's child is gone, and php-fpm knows it: only then does it start another one. A child that stays takes all with it. */
  async slotEnded(slot: number): Promise<void> {
    const end = performance.now() + maxEndMilliseconds;
    while (this.#lastChild(slot) !== null) {
      if (performance.now() > end) {
        this.kill();
        return this.exited;
      }
      await delay(endMilliseconds);
    }
  }

  /** The slot's child when it was last looked up, if it is still there. Its title may have been changed. */
  #lastChild(slot: number): number | null {
    const pid = this.#lastChildren.get(slot);
    return pid !== undefined && this.#masterChildren().includes(pid) ? pid : null;
  }

  /** The ids of processes that run scripts, and of those that scripts have started. */
  scriptProcesses(): readonly number[] {
    return [...this.#masterChildren(), ...this.#orphans()].flatMap((pid) => [pid, ...descendantsOf(pid)]);
  }

  /** Returns which part of a folder in memory is used, from 0 to 1; 0 if that is not known. `folder`: a mount in the sandbox. */
  usedPartOf(folder: string): number {
    const [first] = childrenOf(this.#bubblewrap.pid ?? 0);
    try {
      const { bfree, blocks } = statfsSync(`/proc/${first}/root${folder}`);
      return 1 - bfree / blocks;
    } catch {
      return 0;
    }
  }

  /** Kills the master, all its children and everything that they have started. */
  kill(): void {
    killSandbox(this.#bubblewrap);
  }

  /**
   * bubblewrap has one child, the sandbox's first process. The first child of that is the inner bubblewrap, and the others are programs
   * whose parents have ended.
   */
  #firstChildren(): readonly number[] {
    const [first] = childrenOf(this.#bubblewrap.pid ?? 0);
    return childrenOf(first ?? 0);
  }

  #orphans(): readonly number[] {
    return this.#firstChildren().slice(1);
  }

  /** The only child of the inner bubblewrap is php-fpm's master. */
  #masterChildren(): readonly number[] {
    const [inner] = this.#firstChildren();
    const [master] = childrenOf(inner ?? 0);
    return childrenOf(master ?? 0);
  }
}

function startWith(
  inherited: FpmSockets,
  start: (descriptors: readonly number[]) => SandboxedProcess,
): SandboxedProcess {
  try {
    return start(inherited.descriptors);
  } finally {
    inherited.release();
  }
}

function configurationOf({ slots, idleSeconds, settings, slotSettings }: FpmOptions): string {
  const pools = Array.from({ length: slots }, (_, slot) => [
    `[${nameOf(slot)}]`,
    `listen = ${socketFolder}/${nameOf(slot)}`,
    "pm = ondemand",
    "pm.max_children = 1",
    `pm.process_idle_timeout = ${idleSeconds}s`,
    "clear_env = yes",
    "security.limit_extensions = .php",
    ...Object.entries({ ...settings, ...slotSettings?.(slot) }).map(([name, value]) =>
      settingLine(`php_admin_value[${name}]`, value),
    ),
  ]);
  // It logs to standard error, and still wants a file.
  const global = ["[global]", "daemonize = no", "error_log = /dev/null", `log_limit = ${maxLineBytes}`];
  return [...global, ...pools.flat(), ""].join("\n");
}

async function untilReady(child: SandboxedProcess, onLog: FpmOptions["onLog"], milliseconds: number): Promise<void> {
  const ready = Promise.withResolvers<void>();
  const first: string[] = [];
  const fail = (reason: string) => ready.reject(new Error(`php-fpm did not start: ${reason}`));
  const timer = setTimeout(() => fail(`it took longer than ${milliseconds / 1_000} seconds.`), milliseconds);
  child.once("error", (error) => fail(error.message));
  const lines = createLineReader((line) => {
    if (line.includes(readyMark)) ready.resolve();
    else if (first.length < reportedLines) first.push(line);
    onLog(line);
  });
  child.stderr.on("data", (chunk: Buffer) => lines.read(chunk));
  child.stderr.on("close", () => {
    lines.end();
    fail(first.join(" "));
  });
  try {
    await ready.promise;
  } finally {
    clearTimeout(timer);
  }
}
