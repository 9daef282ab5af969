/**
 * Main module of a process that runs one WP-CLI command. Like a worker, it changes to the environment's user before it
 * accesses any of its files, and has the same network access as the environment's PHP. Its standard input is empty.
 */

import { once } from "node:events";
import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { PHP } from "@php-wasm/universal";
import { freeDiskSync } from "../../freeDisk.ts";
import type { OutgoingMail } from "../../serving.ts";
import { adaptCommand, nestedCommand, pathToRemove } from "../../wpcli/command.ts";
import { bootPhp, type GuardedPhp, type Programs } from "../php/boot.ts";
import { loadModule } from "../php/machineCode.ts";
import { setPackageSource } from "../php/platform.ts";
import type { ProgramResult } from "../php/programs.ts";
import { mountSite } from "../php/site.ts";
import type { NetworkRules } from "../php/socket.ts";
import { opcodeFilesOf, usableCompiled, usableExtensions } from "../worker/compiled.ts";
import { enterEnvironment } from "../worker/dropPrivileges.ts";
import { type ChangeNotes, createChangeNotes } from "./changeNotes.ts";
import type { NestedEndedOrder, Order, PrepareOrder, Report } from "./messages.ts";
import { program, readProgram, runProgram } from "./program.ts";

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
function remove(php: PHP, target: string): ProgramResult {
  try {
    if (php.isDir(target)) php.rmdir(target, { recursive: true });
    else if (php.isFile(target)) php.unlink(target);
    return { stdout: "", stderr: "", exitCode: 0 };
  } catch {
    return { stdout: "", stderr: `rm: ${target} could not be removed.\n`, exitCode: 1 };
  }
}

/** Callbacks for when a nested command has ended. */
const nested: ((ended: NestedEndedOrder) => void)[] = [];

/** Has the parent process run a command in another process, which shares this one's disk quota. */
async function runNested(php: GuardedPhp, argv: readonly string[]): Promise<ProgramResult> {
  const end = new Promise<NestedEndedOrder>((resolve) => nested.push(resolve));
  report({ type: "nested", argv, grownBytes: php.disk.grownBytes() });
  const ended = await end;
  php.disk.addGrowth(ended.grownBytes);
  return ended;
}

/** The programs that WP-CLI starts: `rm` and WP-CLI itself. */
const programs: Programs = (php, command) => {
  const target = pathToRemove(command);
  if (target !== null) return Promise.resolve(remove(php, target));
  const argv = nestedCommand(command, program);
  return argv === null ? null : runNested(php, argv);
};

async function prepare({
  phpVersion,
  wpCli,
  assignment,
  argv,
  diskLeftBytes,
  compiled,
  extensions,
  uploads,
}: PrepareOrder): Promise<() => Promise<void>> {
  let network: NetworkRules | null = null;
  const install = readProgram(wpCli);
  const usable = usableCompiled(compiled);
  const module = usable === null ? null : await loadModule(phpVersion, usable.machineCode);
  const opcodes = usable === null ? null : opcodeFilesOf(usable);
  const php = await bootPhp({
    version: phpVersion,
    network: () => network,
    extensions: usableExtensions(extensions),
    ...{ opcodes, module, programs, handOver, uploads },
  });
  await watchdogLoaded;
  const own = enterEnvironment(assignment);
  network = own.network;
  const reserve = { folder: ".", bytes: own.diskReserveBytes };
  php.disk.keepFree(() => freeDiskSync(reserve));
  const changes = createChangeNotes();
  await mountSite(php, own.folders, { writes: changes.files, databaseWrites: changes.database, disk: php.disk });
  php.disk.begin(diskLeftBytes);
  setPackageSource(php, own.network.packageSource);
  install(php);
  php.divertOutputs({
    onStdout: (bytes) => writeAll(outputs.stdout, bytes),
    onStderr: (bytes) => writeAll(outputs.stderr, bytes),
  });
  php.extraLogLines.begin((line) => writeAll(outputs.stderr, Buffer.from(`${line}\n`)));
  report({ type: "prepared" });
  const ignored = () => undefined;
  php.messages.begin({
    ...{ onStalePages: changes.note, isPrivate: ignored, shows: ignored },
    onlyHousekeeping: changes.forgetDatabase,
  });
  return () => run(php, changes, adaptCommand(argv));
}

async function run(php: GuardedPhp, changes: ChangeNotes, argv: readonly string[]): Promise<void> {
  const response = await runProgram(php, argv);
  const exitCode = await response.exitCode;
  end({ type: "ended", exitCode, grownBytes: php.disk.grownBytes(), mayHaveChanged: changes.hasChanged() });
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
  } else if (order.type === "nestedEnded") nested.shift()?.(order);
  else if (order.type === "mailTaken") mails.shift()?.(order.refusal);
  else prepared?.then((run) => run()).catch(failed);
});
