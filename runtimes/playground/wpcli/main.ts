/**
 * Main module of a process that runs one WP-CLI command. Like a worker, it changes to the environment's user before it
 * accesses any of its files, and has the same network access as the environment's PHP. Its standard input is empty.
 */

import { once } from "node:events";
import { readFileSync, writeSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import type { PHP } from "@php-wasm/universal";
import { freeDiskSync } from "../../freeDisk.ts";
import type { OutgoingMail } from "../../serving.ts";
import { bootPhp, type GuardedPhp } from "../php/boot.ts";
import { loadModule } from "../php/machineCode.ts";
import { setPackageSource } from "../php/platform.ts";
import { mountSite } from "../php/site.ts";
import type { NetworkRules } from "../php/socket.ts";
import { opcodeFilesOf, usableCompiled } from "../worker/compiled.ts";
import { enterEnvironment } from "../worker/dropPrivileges.ts";
import { adaptCommand, pathToRemove, usesRm } from "./command.ts";
import type { Order, PrepareOrder, Report } from "./messages.ts";
import { readProgram, runProgram } from "./program.ts";

/** The descriptor that closes when the parent process is gone; `run.ts` opens it. */
const lifeline = 4;
const outputs = { stdout: 1, stderr: 2 };

function report(message: Report, sent: () => void = () => undefined): void {
  process.send?.(message, sent);
}

/** Callbacks for when a message is stored. PHP waits meanwhile. */
const mails: ((refusal: string | null) => void)[] = [];

function handOver({ sender, message }: OutgoingMail): Promise<string | null> {
  const refusal = new Promise<string | null>((resolve) => mails.push(resolve));
  report({ type: "mail", sender, message: message.toString("base64") });
  return refusal;
}

const neverNotified = new Int32Array(new SharedArrayBuffer(4));

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}

/** Writes and waits for the reader, so that a command with much output does not fill the memory. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if (!isFull(error)) throw error;
      Atomics.wait(neverNotified, 0, 0, 1);
    }
  }
}

/** Emulates `rm -rf` in PHP's own file system, where no path leads out of the environment. */
function remove(php: PHP, command: readonly string[]): number | null {
  const target = pathToRemove(command);
  if (target === null) return null;
  try {
    if (php.isDir(target)) php.rmdir(target, { recursive: true });
    else if (php.isFile(target)) php.unlink(target);
    return 0;
  } catch {
    return 1;
  }
}

/** Reads `wp-config.php`. Empty if there is none. */
function wpConfigIn(documentRoot: string): string {
  try {
    return readFileSync(path.join(documentRoot, "wp-config.php"), "utf8");
  } catch {
    return "";
  }
}

async function prepare({
  phpVersion,
  wpCli,
  assignment,
  argv,
  diskLeftBytes,
  compiled,
}: PrepareOrder): Promise<() => Promise<void>> {
  let network: NetworkRules | null = null;
  const install = readProgram(wpCli);
  const programs = usesRm(argv) ? remove : null;
  const usable = usableCompiled(compiled);
  const module = usable === null ? null : await loadModule(phpVersion, usable.machineCode);
  const opcodes = usable === null ? null : opcodeFilesOf(usable);
  const php = await bootPhp({ version: phpVersion, network: () => network, opcodes, module, programs, handOver });
  await watchdogLoaded;
  const own = enterEnvironment(assignment);
  network = own.network;
  const reserve = { folder: ".", bytes: own.diskReserveBytes };
  php.disk.keepFree(() => freeDiskSync(reserve));
  await mountSite(php, own.folders, { writes: php.writes, disk: php.disk });
  php.disk.begin(diskLeftBytes);
  setPackageSource(php, own.network.packageSource);
  install(php);
  php.divertOutputs({
    onStdout: (bytes) => writeAll(outputs.stdout, bytes),
    onStderr: (bytes) => writeAll(outputs.stderr, bytes),
  });
  php.extraLogLines.begin((line) => writeAll(outputs.stderr, Buffer.from(`${line}\n`)));
  report({ type: "prepared" });
  return () => run(php, adaptCommand(argv, wpConfigIn(own.folders.documentRoot)));
}

async function run(php: GuardedPhp, argv: readonly string[]): Promise<void> {
  const response = await runProgram(php, argv);
  end({ type: "ended", exitCode: await response.exitCode });
}

/** Reports the end and kills this process, without waiting for PHP's leftovers. */
function end(message: Report): void {
  report(message, () => process.kill(process.pid, "SIGKILL"));
}

function failed(error: unknown): void {
  end({ type: "failed", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

const watchdog = new Worker(new URL("./watchdog.ts", import.meta.url), { workerData: lifeline, env: {} });
/** The environment's user may not be able to read Sitewright's folder. */
const watchdogLoaded = once(watchdog, "message");

let prepared: Promise<() => Promise<void>> | null = null;
process.on("message", (order: Order) => {
  if (order.type === "prepare") {
    prepared = prepare(order);
    prepared.catch(failed);
  } else if (order.type === "mailTaken") mails.shift()?.(order.refusal);
  else prepared?.then((run) => run()).catch(failed);
});
