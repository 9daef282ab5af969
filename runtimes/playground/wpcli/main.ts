/**
 * The main module of a process that runs one WP-CLI command and ends. As a worker does, it becomes the environment's user
 * before it touches a file of it, and reaches of the network what that one's PHP reaches; nothing comes from its standard
 * input.
 */
import { readFileSync, writeSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import type { PHP } from "@php-wasm/universal";
import type { OutgoingMail } from "../../serving.ts";
import { bootPhp, type GuardedPhp } from "../php/boot.ts";
import { loadModule } from "../php/machineCode.ts";
import { setPackageSource } from "../php/platform.ts";
import { mountSite } from "../php/site.ts";
import type { NetworkRules } from "../php/socket.ts";
import { reachable, usableOf } from "../worker/compiled.ts";
import { enterEnvironment } from "../worker/dropPrivileges.ts";
import { adapted, removedPath, removesFolders } from "./command.ts";
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

const nobody = new Int32Array(new SharedArrayBuffer(4));

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}

/** Waits for the reader: a command that prints faster than that must not fill the memory. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if (!isFull(error)) throw error;
      Atomics.wait(nobody, 0, 0, 1);
    }
  }
}

/** As much of `rm -rf` as is needed, in PHP's own file system, where nothing leads out of the environment. */
function remove(php: PHP, command: readonly string[]): number | null {
  const removed = removedPath(command);
  if (removed === null) return null;
  try {
    if (php.isDir(removed)) php.rmdir(removed, { recursive: true });
    else if (php.isFile(removed)) php.unlink(removed);
    return 0;
  } catch {
    return 1;
  }
}

/** Empty if there is none. */
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
  const programs = removesFolders(argv) ? remove : null;
  const usable = usableOf(compiled);
  const module = usable === null ? null : await loadModule(phpVersion, usable.machineCode);
  const opcodes = usable === null ? null : reachable(usable);
  const php = await bootPhp({ version: phpVersion, network: () => network, opcodes, module, programs, handOver });
  const own = enterEnvironment(assignment);
  network = own.network;
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
  return () => run(php, adapted(argv, wpConfigIn(own.folders.documentRoot)));
}

async function run(php: GuardedPhp, argv: readonly string[]): Promise<void> {
  const response = await runProgram(php, argv);
  end({ type: "ended", exitCode: await response.exitCode });
}

/** Nothing that PHP has left in this process matters any more. */
function end(message: Report): void {
  report(message, () => process.kill(process.pid, "SIGKILL"));
}

function failed(error: unknown): void {
  end({ type: "failed", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

new Worker(new URL("./watchdog.ts", import.meta.url), { workerData: lifeline, env: {} });

let prepared: Promise<() => Promise<void>> | null = null;
process.on("message", (order: Order) => {
  if (order.type === "prepare") {
    prepared = prepare(order);
    prepared.catch(failed);
  } else if (order.type === "mailTaken") mails.shift()?.(order.refusal);
  else prepared?.then((run) => run()).catch(failed);
});
