/** Runs one WP-CLI command in a separate process, which is killed if it exceeds a limit. */
import { type ChildProcess, fork } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { markExpendable } from "../../expendable.ts";
import type { ProcessPriority } from "../../pool/priority.ts";
import { residentBytes } from "../../processMemory.ts";
import type { WpCliEnd, WpCliOutcome } from "../../runtime.ts";
import type { OutgoingMail } from "../../serving.ts";
import type { CommandLimits } from "../../wpcli/limits.ts";
import { TextTruncator } from "../../wpcli/truncatedText.ts";
import { processOptions } from "../php/processOptions.ts";
import type { MailReport, NestedEndedOrder, NestedReport, Order, PrepareOrder, Report } from "./messages.ts";

const mainModule = fileURLToPath(new URL("./main.ts", import.meta.url));

interface WpCliRun {
  readonly prepare: Omit<PrepareOrder, "type">;
  readonly limits: CommandLimits;
  /** Takes e-mail from PHP, like `AcceptMail`. */
  readonly acceptMail: (mail: OutgoingMail) => Promise<string | null>;
  /** Adjusts the priority of the command's process until it exits. */
  readonly watchPriority: (child: ChildProcess) => ProcessPriority;
  /** Folder in which Node caches our compiled code across processes. */
  readonly codeCache: string;
}

/** Timeout for booting on a busy machine. */
const prepareMilliseconds = 120_000;
const memoryCheckMilliseconds = 200;
/** How deep commands may start commands. */
const maxDepth = 3;
/** The starting command reads all of the output, so it isn't shortened. */
const maxNestedOutputBytes = 16 << 20;

interface NestedEnd {
  readonly order: Omit<NestedEndedOrder, "type">;
  readonly mayHaveChanged: boolean;
}
/** Runs a command that another one has started. Never rejects. */
type RunNested = (command: Pick<NestedReport, "argv" | "grownBytes">) => Promise<NestedEnd>;

class CommandProcess {
  readonly #child: ChildProcess;
  readonly #limits: CommandLimits;
  readonly #priority: ProcessPriority;
  readonly #acceptMail: WpCliRun["acceptMail"];
  readonly #runNested: RunNested;
  /** Resolves when all nested commands so far have ended: only one runs at a time. */
  #nested: Promise<void> = Promise.resolve();
  readonly #stdout: TextTruncator;
  readonly #stderr: TextTruncator;
  readonly #closed: Promise<void>;
  #exitCode: number | null = null;
  #mayHaveChanged = true;
  #hasNestedChanged = false;
  /** Null if the process was killed. */
  grownBytes: number | null = null;
  #end: WpCliEnd | null = null;
  #failure = "";

  constructor({ limits, acceptMail, watchPriority, codeCache }: WpCliRun, runNested: RunNested) {
    this.#runNested = runNested;
    this.#limits = limits;
    this.#acceptMail = acceptMail;
    this.#stdout = new TextTruncator(limits.maxOutputBytes);
    this.#stderr = new TextTruncator(limits.maxOutputBytes);
    this.#child = fork(mainModule, {
      ...processOptions(codeCache),
      stdio: ["ignore", "pipe", "pipe", "ipc", "pipe"],
    });
    this.#priority = watchPriority(this.#child);
    markExpendable(this.#child.pid);
    this.#closed = new Promise((resolve) => {
      this.#child.once("close", () => resolve());
      this.#child.once("error", () => resolve());
    });
    this.#child.stdio[4]?.on("error", () => undefined);
    this.#read(this.#child.stdout, this.#stdout);
    this.#read(this.#child.stderr, this.#stderr);
    this.#child.on("message", (report: Report) => {
      if (report.type === "ended") {
        this.#exitCode = report.exitCode;
        this.grownBytes = report.grownBytes;
        this.#mayHaveChanged = report.mayHaveChanged;
      }
      if (report.type === "nested") this.#nested = this.#nested.then(() => this.#nest(report));
      if (report.type === "failed") this.#failure = report.reason;
      if (report.type === "mail") void this.#passOn(report);
    });
  }

  async #passOn({ sender, message }: MailReport): Promise<void> {
    const taken = this.#acceptMail({ sender, message: Buffer.from(message, "base64") });
    this.#send({ type: "mailTaken", refusal: await taken.catch(() => "it could not be stored") });
  }

  async #nest(command: NestedReport): Promise<void> {
    const { order, mayHaveChanged } = await this.#runNested(command);
    this.#hasNestedChanged ||= mayHaveChanged;
    this.#send({ type: "nestedEnded", ...order });
  }

  #read(stream: Readable | null, truncator: TextTruncator): void {
    stream?.on("data", (chunk: Buffer) => {
      truncator.add(chunk);
      if (this.#stdout.bytes + this.#stderr.bytes > this.#limits.killOutputBytes) this.kill("output");
    });
  }

  kill(end: WpCliEnd): void {
    this.#end ??= end;
    this.#child.kill("SIGKILL");
  }

  #send(order: Order): void {
    // If the process has just died, its end is noticed anyway.
    this.#child.send(order, () => undefined);
  }

  /** Boots PHP. Rejects if that fails. */
  async prepare(order: WpCliRun["prepare"]): Promise<void> {
    const timer = setTimeout(() => this.kill("time"), prepareMilliseconds);
    const prepared = new Promise<boolean>((resolve) => {
      this.#child.on("message", (report: Report) => report.type === "prepared" && resolve(true));
      void this.#closed.then(() => resolve(false));
    });
    this.#send({ type: "prepare", ...order });
    const isPrepared = await prepared;
    clearTimeout(timer);
    if (!isPrepared)
      throw new Error(`PHP could not be started for WP-CLI: ${this.#failure || this.#stderr.result().text}`);
    this.#priority.setYielding(true);
  }

  /** Runs the command. Resolves when the process is gone and all its output has been read. */
  async run(): Promise<WpCliOutcome> {
    const timer = setTimeout(() => this.kill("time"), this.#limits.seconds * 1000);
    const memoryCheck = setInterval(() => void this.#watchMemory(), memoryCheckMilliseconds);
    this.#send({ type: "run" });
    await this.#closed;
    clearTimeout(timer);
    clearInterval(memoryCheck);
    const exitCode = this.#exitCode;
    const end = exitCode !== null ? "itself" : (this.#end ?? "crash");
    const mayHaveChanged = this.#mayHaveChanged || this.#hasNestedChanged;
    return { stdout: this.#stdout.result(), stderr: this.#stderr.result(), exitCode, end, mayHaveChanged };
  }

  async #watchMemory(): Promise<void> {
    const { pid } = this.#child;
    if (pid !== undefined && (await residentBytes(pid)) > this.#limits.memoryBytes) this.kill("memory");
  }

  /** Kills the process. Resolves when it and its nested commands, which the caller has aborted, are gone. */
  async gone(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
    await this.#nested;
  }
}

/** The outcome, and by how many bytes files have grown; null if that is unknown. */
interface Ended {
  readonly outcome: WpCliOutcome;
  readonly grownBytes: number | null;
}

async function runAtDepth(
  run: WpCliRun,
  begin: () => Promise<void>,
  signal: AbortSignal,
  depth: number,
): Promise<Ended> {
  signal.throwIfAborted();
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const command = new CommandProcess(run, (nested) => runNested(run, nested, ends, depth + 1));
  const stop = () => command.kill("crash");
  signal.addEventListener("abort", stop, { once: true });
  try {
    await command.prepare(run.prepare);
    await begin();
    signal.throwIfAborted();
    const outcome = await command.run();
    signal.throwIfAborted();
    return { outcome, grownBytes: command.grownBytes };
  } finally {
    signal.removeEventListener("abort", stop);
    over.abort();
    await command.gone();
  }
}

const killedBecause: Readonly<Record<Exclude<WpCliEnd, "itself">, string>> = {
  time: "it took too long",
  output: "it printed too much",
  memory: "it used too much memory",
  crash: "PHP crashed",
};

async function runNested(
  run: WpCliRun,
  { argv, grownBytes }: Parameters<RunNested>[0],
  signal: AbortSignal,
  depth: number,
): Promise<NestedEnd> {
  const failed = (reason: string): NestedEnd => {
    const stderr = `Error: The command was not run: ${reason}.\n`;
    return { order: { stdout: "", stderr, exitCode: 1, grownBytes: 0 }, mayHaveChanged: false };
  };
  if (depth > maxDepth) return failed(`only ${maxDepth} levels of commands within commands are possible`);
  const left = run.prepare.diskLeftBytes === null ? null : run.prepare.diskLeftBytes - grownBytes;
  const limits = { ...run.limits, maxOutputBytes: maxNestedOutputBytes, killOutputBytes: maxNestedOutputBytes };
  const nested = { ...run, limits, prepare: { ...run.prepare, argv, diskLeftBytes: left } };
  const ended = await runAtDepth(nested, async () => undefined, signal, depth).catch(() => null);
  if (ended === null) return failed("PHP could not be started");
  const { stdout, stderr, exitCode, end, mayHaveChanged } = ended.outcome;
  const killed = end === "itself" ? "" : `Error: The command was killed: ${killedBecause[end]}.\n`;
  // The worst case for a command that can't tell.
  const grown = ended.grownBytes ?? Math.max(0, left ?? 0);
  const order = { stdout: stdout.text, stderr: stderr.text + killed, exitCode: exitCode ?? 1, grownBytes: grown };
  return { order, mayHaveChanged };
}

/**
 * Runs a command. Calls `begin` when everything is ready; if that rejects, the command is not started. Rejects when
 * `signal` is aborted. The process is always gone when this settles, and so are those of commands that the command has
 * started.
 */
export async function runCommand(
  run: WpCliRun,
  begin: () => Promise<void>,
  signal: AbortSignal,
): Promise<WpCliOutcome> {
  const { outcome } = await runAtDepth(run, begin, signal, 1);
  return outcome;
}
