/** Runs a program in a sandbox within limits, beyond which everything in the sandbox is killed. */
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { DiskReserve } from "../freeDisk.ts";
import { residentBytes } from "../processMemory.ts";
import type { WpCliEnd, WpCliOutcome } from "../runtime.ts";
import type { CommandLimits } from "../wpcli/limits.ts";
import { TextTruncator } from "../wpcli/truncatedText.ts";
import { watchDisk } from "./diskWatch.ts";
import { descendantsOf } from "./processTree.ts";
import type { Sandbox } from "./sandbox.ts";
import { killSandbox, spawnSandboxed } from "./spawnSandboxed.ts";

interface ProgramRun {
  readonly limits: CommandLimits;
  /** Gets its errors; the caller may add others. */
  readonly stderr: TextTruncator;
  /** By how much files may grow (null: unlimited), and how much of the disk must stay free. */
  readonly disk: { readonly leftBytes: number | null; readonly reserve: DiskReserve };
  /** The program is killed when it is aborted. */
  readonly signal: AbortSignal;
  /** Called when the sandbox's process has been started. */
  readonly onStart: (child: ChildProcess) => void;
}

/** Without a note on changes. */
export type ProgramOutcome = Omit<WpCliOutcome, "mayHaveChanged">;

const memoryCheckMilliseconds = 200;
/** bubblewrap's exit codes if a signal has ended the program. PHP's own last one is 255. */
const signalCodes = { first: 129, last: 192 };

/** Resolves when the program, and everything that it has started, is gone and its output has been read. */
export async function runSandboxed(
  sandbox: Sandbox,
  command: readonly string[],
  { limits, stderr, disk, signal, onStart }: ProgramRun,
): Promise<ProgramOutcome> {
  const child = spawnSandboxed(sandbox, command, ["ignore", "pipe"]);
  onStart(child);
  let ending: WpCliEnd | null = null;
  const kill = (reason: WpCliEnd) => {
    ending ??= reason;
    killSandbox(child);
  };
  const stdout = new TextTruncator(limits.maxOutputBytes);
  const read = (stream: Readable | null, text: TextTruncator) =>
    stream?.on("data", (chunk: Buffer) => {
      text.add(chunk);
      if (stdout.bytes + stderr.bytes > limits.killOutputBytes) kill("output");
    });
  if (child.stdout !== null) read(child.stdout, stdout);
  read(child.stderr, stderr);
  const watch = watchDisk({
    ...disk,
    processes: () => descendantsOf(child.pid ?? 0),
    before: 0,
    onExcess: (reason) => {
      stderr.add(Buffer.from(`${reason}\n`));
      kill("crash");
    },
  });
  const timer = setTimeout(() => kill("time"), limits.seconds * 1000);
  const memoryCheck = setInterval(async () => {
    if ((await memoryOf(child)) > limits.memoryBytes) kill("memory");
  }, memoryCheckMilliseconds);
  const stop = () => kill("crash");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const code = await closed(child);
  signal.removeEventListener("abort", stop);
  clearTimeout(timer);
  clearInterval(memoryCheck);
  await watch.end();
  const isKilled = code === null || (code >= signalCodes.first && code <= signalCodes.last);
  const isByItself = ending === null && !isKilled;
  return {
    stdout: stdout.result(),
    stderr: stderr.result(),
    exitCode: isByItself ? code : null,
    end: isByItself ? "itself" : (ending ?? "crash"),
  };
}

/** Resolves with the exit code; null if there is none. */
function closed(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", (code) => resolve(code));
  });
}

async function memoryOf({ pid }: ChildProcess): Promise<number> {
  const processes = pid === undefined ? [] : descendantsOf(pid);
  const sizes = await Promise.all(processes.map(residentBytes));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
