/** Runs one WP-CLI command in a process of its own, which is killed for good whenever it goes beyond a limit. */
import { type ChildProcess, fork } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { WpCliEnd, WpCliOutcome } from "../../runtime.ts";
import type { OutgoingMail } from "../../serving.ts";
import { processOptions } from "../php/processOptions.ts";
import { usualSteps } from "../pool/fairness.ts";
import { residentBytes } from "../pool/memory.ts";
import { setStepsBack } from "../worker/priority.ts";
import { TextKeeper } from "./keptText.ts";
import type { MailReport, Order, PrepareOrder, Report } from "./messages.ts";

const mainModule = fileURLToPath(new URL("./main.ts", import.meta.url));

export interface WpCliLimits {
  /** From the command's beginning. */
  readonly seconds: number;
  /** Of what is kept of each output. */
  readonly keptBytes: number;
  /** Of both outputs together, after which the command is ended. */
  readonly outputBytes: number;
  readonly memoryBytes: number;
}

export interface WpCliRun {
  readonly prepare: Omit<PrepareOrder, "type">;
  readonly limits: WpCliLimits;
  /** Takes what PHP sends, as `TakeMail`. */
  readonly takeMail: (mail: OutgoingMail) => Promise<string | null>;
  /** Where Node keeps our own code compiled from one process to the next. */
  readonly codeCache: string;
}

/** To boot, on a machine that has much else to do. */
const prepareMilliseconds = 120_000;
const lookMilliseconds = 200;

class CommandProcess {
  readonly #child: ChildProcess;
  readonly #limits: WpCliLimits;
  readonly #takeMail: WpCliRun["takeMail"];
  readonly #stdout: TextKeeper;
  readonly #stderr: TextKeeper;
  readonly #closed: Promise<void>;
  #exitCode: number | null = null;
  #end: WpCliEnd | null = null;
  #failure = "";

  constructor({ limits, takeMail, codeCache }: WpCliRun) {
    this.#limits = limits;
    this.#takeMail = takeMail;
    this.#stdout = new TextKeeper(limits.keptBytes);
    this.#stderr = new TextKeeper(limits.keptBytes);
    this.#child = fork(mainModule, {
      ...processOptions(codeCache),
      stdio: ["ignore", "pipe", "pipe", "ipc", "pipe"],
    });
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
    const taken = this.#takeMail({ sender, message: Buffer.from(message, "base64") });
    this.#send({ type: "mailTaken", refusal: await taken.catch(() => "it could not be kept") });
  }

  #read(stream: Readable | null, keeper: TextKeeper): void {
    stream?.on("data", (chunk: Buffer) => {
      keeper.add(chunk);
      if (this.#stdout.bytes + this.#stderr.bytes > this.#limits.outputBytes) this.kill("output");
    });
  }

  kill(end: WpCliEnd): void {
    this.#end ??= end;
    this.#child.kill("SIGKILL");
  }

  #send(order: Order): void {
    // A process that has just died is noticed by its end.
    this.#child.send(order, () => undefined);
  }

  /** Rejects if it can't be brought so far. */
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
      throw new Error(`PHP could not be made ready for WP-CLI: ${this.#failure || this.#stderr.kept().text}`);
    if (this.#child.pid !== undefined) setStepsBack(this.#child.pid, usualSteps);
  }

  /** Resolves when the process is gone, and all that it printed was read. */
  async run(): Promise<WpCliOutcome> {
    const timer = setTimeout(() => this.kill("time"), this.#limits.seconds * 1000);
    const look = setInterval(() => void this.#watchMemory(), lookMilliseconds);
    this.#send({ type: "run" });
    await this.#closed;
    clearTimeout(timer);
    clearInterval(look);
    const exitCode = this.#exitCode;
    const end = exitCode !== null ? "itself" : (this.#end ?? "crash");
    return { stdout: this.#stdout.kept(), stderr: this.#stderr.kept(), exitCode, end };
  }

  async #watchMemory(): Promise<void> {
    const { pid } = this.#child;
    if (pid !== undefined && (await residentBytes(pid)) > this.#limits.memoryBytes) this.kill("memory");
  }

  /** Resolves when the process is gone. */
  async gone(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }
}

/**
 * `begin` is called when everything is ready; where it rejects, the command is not begun. Rejects when `signal` is
 * aborted. Whatever happens, the process is gone when this settles.
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
