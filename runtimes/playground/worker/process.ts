/** A worker as the edge process sees it: started, given an environment once, given one request at a time, killed. */
import { type ChildProcess, fork } from "node:child_process";
import { Duplex, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { NoAnswer, type NoAnswerReason, type OutgoingMail, type PhpResponse, type Touched } from "../../serving.ts";
import { processOptions } from "../php/processOptions.ts";
import { usualSteps } from "../pool/fairness.ts";
import type { WarmUp } from "../templates/warmUp.ts";
import {
  createFrameReader,
  type Frame,
  frameKinds,
  type MailTaken,
  type RequestHead,
  type ResponseEnd,
  sendFrame,
  sendJson,
  unpackMail,
} from "./frames.ts";
import { createLineReader, type LineReader } from "./lines.ts";
import type { AssignOrder, BootOrder, Order, Report } from "./messages.ts";
import { mayComeForward, setStepsBack } from "./priority.ts";
import { together, untouched } from "./touched.ts";

const mainModule = fileURLToPath(new URL("./main.ts", import.meta.url));

/** What a visitor has not read yet is kept here, so that the worker is free for others; beyond this it waits. */
const responseBufferBytes = 16 << 20;
const errorTextBytes = 4096;

/** The worker died before PHP had the request, which may therefore be given to another. */
export class NeverBegun extends Error {
  override readonly name = "NeverBegun";
}

/** What the caller of a worker passes in, and the events that it receives. */
export interface Handling {
  /** Absent: the worker's own. */
  readonly deadlineSeconds?: number | null;
  /** The worker is free, or gone. `hasWritten`: PHP has changed files or database, or may have. */
  finished(hasWritten: boolean): void;
  /** PHP sends a message. Resolves with null if it is kept, otherwise with why not. Absent: it is not. */
  mail?(mail: OutgoingMail): Promise<string | null>;
  /** PHP has written a line to its log. Before `finished`. */
  onErrorLine?(line: string): void;
  /** Files or database have grown by so many bytes more. */
  grown?(bytes: number): void;
  /** Which pages a change has made old: in the middle of the request, and all of them before `finished`. */
  touched?(touched: Touched): void;
  /** It is about to be ended, because it took too long. */
  outOfTime?(): void;
}

/** One request under way. */
interface Exchange {
  readonly resolve: (response: PhpResponse) => void;
  readonly reject: (error: NoAnswer | NeverBegun) => void;
  hasBegun: boolean;
  readonly handling: Handling;
  readonly log: LineReader;
  readonly deadlineMilliseconds: number;
  body: Readable | null;
  touched: Touched;
  readonly mayBeCached: PromiseWithResolvers<boolean>;
  readonly errors: PromiseWithResolvers<string>;
  readonly ended: PromiseWithResolvers<void>;
}

/** Resolves when the stream takes more, or never will. */
function untilDrained(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off("drain", settle);
      stream.off("close", settle);
      resolve();
    };
    stream.on("drain", settle);
    stream.on("close", settle);
  });
}

export class WorkerProcess {
  readonly ready: Promise<void>;
  /** Settles when the process is gone. */
  readonly exited: Promise<void>;
  requests = 0;
  rssBytes = 0;
  isBroken = false;
  /** When PHP got the first request, or null if it is still booting. */
  firstBegan: number | null = null;
  lastUsed = performance.now();
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  readonly #deadlineMilliseconds: number;
  #exchange: Exchange | null = null;
  #timer: NodeJS.Timeout | null = null;
  #killedFor: NoAnswerReason = "crashed";
  #errorText = "";
  /** Whether others come first anyway. */
  #isYielding = false;
  /** How far it stands back because of what its environment takes. */
  #stepsBack = usualSteps;
  /** As the system has it. */
  #standsBack = 0;

  constructor(order: BootOrder, deadlineSeconds: number) {
    this.#deadlineMilliseconds = deadlineSeconds * 1000;
    this.#child = fork(mainModule, {
      ...processOptions(order.codeCache),
      stdio: ["ignore", "ignore", "pipe", "ipc", "pipe"],
    });
    const channel = this.#child.stdio[4];
    if (!(channel instanceof Duplex)) throw new Error("The worker has no channel.");
    this.#channel = channel;
    this.exited = new Promise((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.once("error", () => resolve());
    });
    this.ready = this.#reported("ready");
    this.#listen();
    this.#send(order);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isBusy(): boolean {
    return this.#exchange !== null;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** From now on others come first. */
  yieldToOthers(): void {
    this.#isYielding = true;
    this.#place();
  }

  /** A visitor waits for it now, so it loses its low priority. */
  comeForward(): void {
    this.#isYielding = false;
    this.#place();
  }

  /** Its environment keeps the processors busy, or does so no longer: that it stands behind others by so many steps. */
  standBack(steps: number): void {
    this.#stepsBack = steps;
    this.#place();
  }

  /** Whether it stands further back than it should, and can't come forward: it had better be replaced. */
  get isStuckBehind(): boolean {
    return this.#isYielding && this.#standsBack > this.#steps && !mayComeForward();
  }

  get #steps(): number {
    const isBusyOne = this.#stepsBack > usualSteps;
    return this.#isYielding || isBusyOne ? this.#stepsBack : 0;
  }

  #place(): void {
    const steps = this.#steps;
    if (steps === this.#standsBack || this.#child.pid === undefined || !this.isAlive) return;
    setStepsBack(this.#child.pid, steps);
    if (steps > this.#standsBack || mayComeForward()) this.#standsBack = steps;
  }

  #send(order: Order): void {
    // A worker that has just died is noticed by its exit.
    this.#child.send(order, () => undefined);
  }

  /** Rejects if the process ends before. */
  #reported(type: "ready" | "warm"): Promise<void> {
    const reported = new Promise<void>((resolve, reject) => {
      this.#child.on("message", (report: Report) => {
        if (report.type === type) resolve();
      });
      this.exited.then(() => reject(new Error(`A worker ended before it was ${type}: ${this.#errorText}`)));
    });
    // The failure is reported where it is awaited, if it is.
    reported.catch(() => undefined);
    return reported;
  }

  /** Resolves when it is warm, or was given an environment and stopped warming up. */
  async warmUp(template: WarmUp): Promise<void> {
    const isWarm = this.#reported("warm");
    this.#send({ type: "warm", ...template });
    await isWarm;
  }

  #listen(): void {
    this.#child.on("message", (report: Report) => {
      if (report.type === "failed") this.#errorText += report.reason;
    });
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#errorText = (this.#errorText + chunk.toString()).slice(-errorTextBytes);
    });
    const readFrame = createFrameReader((frame) => this.#receive(frame));
    this.#channel.on("data", readFrame);
    this.#channel.on("error", () => undefined);
    void this.exited.then(() => this.#end(null));
  }

  /** Returns the worker its environment, for ever. Requests may follow at once. */
  assign(order: AssignOrder): void {
    this.#send(order);
  }

  /**
   * Runs one request; the worker must not be busy. Rejects with `NoAnswer` if there is no answer at all, with
   * `NeverBegun` where PHP never had the request; an answer that breaks off makes the body end with an error.
   */
  handle(head: RequestHead, body: AsyncIterable<Buffer> | null, handling: Handling): Promise<PhpResponse> {
    this.requests += 1;
    const { deadlineSeconds = null } = handling;
    const deadlineMilliseconds = deadlineSeconds === null ? this.#deadlineMilliseconds : deadlineSeconds * 1000;
    return new Promise((resolve, reject) => {
      const log = createLineReader((line) => handling.onErrorLine?.(line));
      const ends = {
        mayBeCached: Promise.withResolvers<boolean>(),
        errors: Promise.withResolvers<string>(),
        ended: Promise.withResolvers<void>(),
      };
      const begun = { hasBegun: false, body: null, touched: untouched };
      this.#exchange = { resolve, reject, handling, log, deadlineMilliseconds, ...begun, ...ends };
      this.#startTimer(deadlineMilliseconds);
      sendJson(this.#channel, frameKinds.head, head);
      this.#sendBody(body).catch(() => this.kill("crashed"));
    });
  }

  async #sendBody(body: AsyncIterable<Buffer> | null): Promise<void> {
    for await (const chunk of body ?? []) {
      if (!sendFrame(this.#channel, frameKinds.body, chunk)) await untilDrained(this.#channel);
    }
    sendJson(this.#channel, frameKinds.end, null);
  }

  #startTimer(milliseconds: number): void {
    this.#stopTimer();
    const end = () => {
      this.#exchange?.handling.outOfTime?.();
      this.kill("deadline");
    };
    this.#timer = setTimeout(end, milliseconds);
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #receive({ kind, content }: Frame): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    exchange.hasBegun = true;
    this.firstBegan ??= performance.now();
    if (kind === frameKinds.mail) void this.#takeMail(exchange, Buffer.from(content));
    else if (kind === frameKinds.head) this.#beginResponse(exchange, content);
    else if (kind === frameKinds.body) this.#passOn(exchange, Buffer.from(content));
    else if (kind === frameKinds.grown) exchange.handling.grown?.(JSON.parse(content.toString()));
    else if (kind === frameKinds.touched) this.#touch(exchange, JSON.parse(content.toString()));
    else if (kind === frameKinds.log) exchange.log.read(content);
    else if (kind === frameKinds.end) this.#end(JSON.parse(content.toString()));
  }

  async #takeMail({ handling }: Exchange, content: Buffer): Promise<void> {
    const taken = handling.mail?.(unpackMail(content)) ?? Promise.resolve("nothing can be sent from here");
    const refusal = await taken.catch(() => "it could not be kept");
    sendJson(this.#channel, frameKinds.mailTaken, { refusal } satisfies MailTaken);
  }

  #touch(exchange: Exchange, touched: Touched): void {
    exchange.touched = together(exchange.touched, touched);
    exchange.handling.touched?.(touched);
  }

  #beginResponse(exchange: Exchange, content: Buffer): void {
    const body = new Readable({
      highWaterMark: responseBufferBytes,
      read: () => {
        if (!this.#channel.isPaused()) return;
        this.#startTimer(exchange.deadlineMilliseconds);
        this.#channel.resume();
      },
    });
    // An answer that is not read to its end must neither block the worker nor cause errors when it is aborted.
    body.on("error", () => undefined);
    body.on("close", () => this.#channel.resume());
    exchange.body = body;
    const { mayBeCached, errors, ended } = exchange;
    const later = { mayBeCached: mayBeCached.promise, errors: errors.promise, finished: ended.promise };
    exchange.resolve({ ...JSON.parse(content.toString()), body, ...later });
  }

  #passOn({ body, deadlineMilliseconds }: Exchange, chunk: Buffer): void {
    if (body === null || body.destroyed || body.push(chunk)) return;
    // The visitor is slow, not PHP. The same time is allowed for him to go on reading.
    this.#channel.pause();
    this.#startTimer(deadlineMilliseconds);
  }

  /** The request is over: with PHP's own end, or with the end of the process (null). */
  #end(end: ResponseEnd | null): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    this.#exchange = null;
    this.#stopTimer();
    this.lastUsed = performance.now();
    this.rssBytes = end?.rssBytes ?? this.rssBytes;
    this.isBroken ||= end === null || end.isBroken;
    if (this.requests === 1) this.yieldToOthers();
    exchange.log.end();
    if (exchange.touched !== untouched) exchange.handling.touched?.(exchange.touched);
    exchange.errors.resolve(end?.errors ?? "");
    exchange.ended.resolve();
    const isRefused = end?.isRefused ?? false;
    const isWhole = end !== null && !end.isBroken && !isRefused;
    exchange.mayBeCached.resolve(isWhole && end.mayBeCached);
    const cause = new Error(end?.reason ?? this.#errorText);
    const failure = isRefused
      ? new NoAnswer("wouldWrite", "PHP wanted to write something, which it may not at the moment.")
      : new NoAnswer(this.#killedFor, "PHP broke off before its answer was complete.", { cause });
    if (!exchange.hasBegun && this.#killedFor === "crashed") exchange.reject(new NeverBegun(cause.message, { cause }));
    else if (exchange.body === null) exchange.reject(failure);
    else if (isWhole) exchange.body.push(null);
    else exchange.body.destroy(failure);
    exchange.handling.finished(end?.hasWritten ?? exchange.hasBegun);
  }

  kill(reason: NoAnswerReason): void {
    this.#killedFor = reason;
    this.isBroken = true;
    this.#child.kill("SIGKILL");
  }
}
