/** Runs one WP-CLI command in a separate process, which is killed if it exceeds a limit. */
import { type ChildProcess, fork } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { markExpendable } from "../../expendable.ts";
import { residentBytes } from "../../processMemory.ts";
import type { WpCliEnd, WpCliOutcome } from "../../runtime.ts";
import type { OutgoingMail } from "../../serving.ts";
import { processOptions } from "../php/processOptions.ts";
import { defaultSteps } from "../pool/fairness.ts";
import { lowerPriority } from "../worker/priority.ts";
import type { MailReport, Order, PrepareOrder, Report } from "./messages.ts";
import { TextTruncator } from "./truncatedText.ts";

const mainModule = fileURLToPath(new URL("./main.ts", import.meta.url));

export interface WpCliLimits {
  /** Time limit, from the start of the command. */
  readonly seconds: number;
  /** Maximum size of each output that is kept. */
  readonly maxOutputBytes: number;
  /** Size of both outputs together at which the command is killed. */
  readonly killOutputBytes: number;
  readonly memoryBytes: number;
}

interface WpCliRun {
  readonly prepare: Omit<PrepareOrder, "type">;
  readonly limits: WpCliLimits;
  /** Takes e-mail from PHP, like `AcceptMail`. */
  readonly acceptMail: (mail: OutgoingMail) => Promise<string | null>;
  /** Folder in which Node caches our compiled code across processes. */
  readonly codeCache: string;
}

/** Timeout for booting on a busy machine. */
const prepareMilliseconds = 120_000;
const memoryCheckMilliseconds = 200;

class CommandProcess {
  readonly #child: ChildProcess;
  readonly #limits: WpCliLimits;
  readonly #acceptMail: WpCliRun["acceptMail"];
  readonly #stdout: TextTruncator;
  readonly #stderr: TextTruncator;
  readonly #closed: Promise<void>;
  #exitCode: number | null = null;
  #end: WpCliEnd | null = null;
  #failure = "";

  constructor({ limits, acceptMail, codeCache }: WpCliRun) {
    this.#limits = limits;
    this.#acceptMail = acceptMail;
    this.#stdout = new TextTruncator(limits.maxOutputBytes);
    this.#stderr = new TextTruncator(limits.maxOutputBytes);
    this.#child = fork(mainModule, {
      ...processOptions(codeCache),
      stdio: ["ignore", "pipe", "pipe", "ipc", "pipe"],
    });
    markExpendable(this.#child.pid);
    this.#closed = new Promise((resolve) => {
      this.#child.once("close", () => resolve());
      this.#child.once("error", () => resolve());
    });
    this.#child.stdio[4]?.on("error", () => undefined);
    this.#read(this.#child.stdout, this.#stdout);
    this.#read(this.#child.stderr, this.#stderr);
    this.#child.on("message", (report: Report) => {
      if (report.type === "ended") this.#exitCode = report.exitCode;
      if (report.type === "failed") this.#failure = report.reason;
      if (report.type === "mail") void this.#passOn(report);
    });
  }

  async #passOn({ sender, message }: MailReport): Promise<void> {
    const taken = this.#acceptMail({ sender, message: Buffer.from(message, "base64") });
    this.#send({ type: "mailTaken", refusal: await taken.catch(() => "it could not be stored") });
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
    if (this.#child.pid !== undefined) lowerPriority(this.#child.pid, defaultSteps);
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
    return { stdout: this.#stdout.result(), stderr: this.#stderr.result(), exitCode, end };
  }

  async #watchMemory(): Promise<void> {
    const { pid } = this.#child;
    if (pid !== undefined && (await residentBytes(pid)) > this.#limits.memoryBytes) this.kill("memory");
  }

  /** Kills the process. Resolves when it is gone. */
  async gone(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }
}

/**
 * Runs a command. Calls `begin` when everything is ready; if that rejects, the command is not started. Rejects when
 * `signal` is aborted. The process is always gone when this settles.
 */
export async function runCommand(
  run: WpCliRun,
  begin: () => Promise<void>,
  signal: AbortSignal,
): Promise<WpCliOutcome> {
  signal.throwIfAborted();
  const command = new CommandProcess(run);
  const stop = () => command.kill("crash");
  signal.addEventListener("abort", stop, { once: true });
  try {
    await command.prepare(run.prepare);
    await begin();
    signal.throwIfAborted();
    const outcome = await command.run();
    signal.throwIfAborted();
    return outcome;
  } finally {
    signal.removeEventListener("abort", stop);
    await command.gone();
  }
}
