/**
 * A worker as the edge process sees it: started, assigned an environment once, given one request at a time, and killed.
 */
import type { Socket } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { Exchange } from "../../pool/exchange.ts";
import { ProcessPriority } from "../../pool/priority.ts";
import type { RequestCallbacks, Worker, WorkerRequest } from "../../pool/worker.ts";
import type { NoAnswerReason, PhpResponse, RequestBody } from "../../serving.ts";
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
import { type Launched, launchWorker } from "./launch.ts";
import type { AssignOrder, BootOrder, Order, Report } from "./messages.ts";

/**
 * Size of the buffer for responses that a slow visitor has not read yet. It frees the worker for others; beyond it the
 * worker waits.
 */
const responseBufferBytes = 16 << 20;
const errorTextBytes = 4096;

/** Resolves when the stream accepts more data, or is closed. */
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

export class WorkerProcess implements Worker {
  readonly ready: Promise<void>;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
  requests = 0;
  rssBytes = 0;
  isBroken = false;
  /** When PHP got the first request, or null if it is still booting. */
  firstBegan: number | null = null;
  lastUsed = performance.now();
  /** Resolves with the process's id when it has been started. Stays pending if it could not be. */
  readonly started: Promise<number>;
  readonly #child: Launched;
  /** Null until the process has been started. */
  #channel: Socket | null = null;
  readonly #opened: Promise<Socket>;
  readonly #reports: ((report: Report) => void)[] = [];
  readonly #deadlineMilliseconds: number;
  #exchange: Exchange | null = null;
  /** Of the current response. */
  #body: Readable | null = null;
  #killedFor: NoAnswerReason = "crashed";
  #errorText = "";
  readonly #priority: ProcessPriority;

  constructor(order: BootOrder, deadlineSeconds: number) {
    this.#deadlineMilliseconds = deadlineSeconds * 1000;
    const opened = Promise.withResolvers<Socket>();
    const exited = Promise.withResolvers<void>();
    this.#opened = opened.promise;
    this.started = opened.promise.then(() => this.pid);
    this.exited = exited.promise;
    this.#child = launchWorker(order.codeCache, {
      started: (_pid, channel) => {
        this.#listenTo(channel);
        this.#priority.apply();
        opened.resolve(channel);
      },
      report: (report) => {
        if (report.type === "failed") this.#addErrorText(report.reason);
        for (const listener of this.#reports) listener(report);
      },
      errorText: (text) => this.#addErrorText(text),
      exited: exited.resolve,
    });
    this.#priority = new ProcessPriority(this.#child);
    this.ready = this.#reported("ready");
    void this.exited.then(() => this.#end(null));
    this.#send(order);
  }

  /** 0 until the process has been started. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isBusy(): boolean {
    return this.#exchange !== null;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Lowers the priority from now on. */
  yieldToOthers(): void {
    this.#priority.setYielding(true);
  }

  /** Raises the priority, because a visitor waits for it now. */
  raisePriority(): void {
    this.#priority.setYielding(false);
  }

  /** Sets by how many steps its company's load lowers the priority. */
  setLoadSteps(steps: number): void {
    this.#priority.setLoadSteps(steps);
  }

  /** Whether its priority is lower than it should be and can't be raised: it should be replaced. */
  get isStuckAtLowPriority(): boolean {
    return this.#priority.isStuck;
  }

  #send(order: Order): void {
    this.#child.send(order);
  }

  /** Waits for a report. Rejects if the process ends before. */
  #reported(type: "ready" | "warm"): Promise<void> {
    const reported = new Promise<void>((resolve, reject) => {
      this.#reports.push((report) => {
        if (report.type === type) resolve();
      });
      this.exited.then(() => reject(new Error(`A worker ended before it was ${type}: ${this.#errorText}`)));
    });
    // The failure is reported to the code that awaits it, if any.
    reported.catch(() => undefined);
    return reported;
  }

  /** Warms the worker up. Resolves when it is warm, or was assigned an environment and stopped warming up. */
  async warmUp(template: WarmUp): Promise<void> {
    const isWarm = this.#reported("warm");
    this.#send({ type: "warm", ...template });
    await isWarm;
  }

  #addErrorText(text: string): void {
    this.#errorText = (this.#errorText + text).slice(-errorTextBytes);
  }

  #listenTo(channel: Socket): void {
    this.#channel = channel;
    const readFrame = createFrameReader((frame) => this.#receive(frame, channel));
    channel.on("data", readFrame);
    channel.on("error", () => undefined);
  }

  /** Assigns the worker its environment, permanently. Requests may follow at once. */
  assign(order: AssignOrder): void {
    this.#send(order);
  }

  handle(request: WorkerRequest, body: RequestBody | null, callbacks: RequestCallbacks): Promise<PhpResponse> {
    this.requests += 1;
    const exchange = new Exchange({
      request,
      callbacks,
      deadlineMilliseconds: this.#deadlineMilliseconds,
      onDeadline: () => this.kill("deadline"),
    });
    this.#exchange = exchange;
    this.#sendRequest({ ...request, deadlineSeconds: exchange.deadlineMilliseconds / 1000 }, body).catch(() =>
      this.kill("crashed"),
    );
    return exchange.response;
  }

  async #sendRequest(head: RequestHead, body: RequestBody | null): Promise<void> {
    const channel = this.#channel ?? (await this.#opened);
    sendJson(channel, frameKinds.head, head);
    for await (const chunk of body ?? []) {
      if (!sendFrame(channel, frameKinds.body, chunk)) await untilDrained(channel);
    }
    sendJson(channel, frameKinds.end, null);
  }

  #receive({ kind, content }: Frame, channel: Socket): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    exchange.hasBegun = true;
    this.firstBegan ??= performance.now();
    if (kind === frameKinds.mail) void this.#acceptMail(exchange, Buffer.from(content), channel);
    else if (kind === frameKinds.head) this.#beginResponse(exchange, content, channel);
    else if (kind === frameKinds.body) this.#passOn(exchange, Buffer.from(content), channel);
    else if (kind === frameKinds.grown) exchange.callbacks.grown?.(JSON.parse(content.toString()));
    else if (kind === frameKinds.stalePages) exchange.reportStalePages(JSON.parse(content.toString()));
    else if (kind === frameKinds.log) exchange.log(content);
    else if (kind === frameKinds.end) this.#end(JSON.parse(content.toString()));
  }

  async #acceptMail({ callbacks }: Exchange, content: Buffer, channel: Socket): Promise<void> {
    const taken = callbacks.mail?.(unpackMail(content)) ?? Promise.resolve("nothing can be sent from here");
    const refusal = await taken.catch(() => "it could not be stored");
    sendJson(channel, frameKinds.mailTaken, { refusal } satisfies MailTaken);
  }

  #beginResponse(exchange: Exchange, content: Buffer, channel: Socket): void {
    const body = new Readable({
      highWaterMark: responseBufferBytes,
      read: () => {
        if (!channel.isPaused()) return;
        exchange.restartDeadline();
        channel.resume();
      },
    });
    // A response that is not read to its end must not block the worker.
    body.on("close", () => channel.resume());
    this.#body = body;
    exchange.respond(JSON.parse(content.toString()), body);
  }

  #passOn(exchange: Exchange, chunk: Buffer, channel: Socket): void {
    const body = this.#body;
    if (body === null || body.destroyed || body.push(chunk)) return;
    channel.pause();
    exchange.restartDeadline();
  }

  /** Ends the request, with PHP's end frame or with the end of the process (null). */
  #end(end: ResponseEnd | null): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    this.#exchange = null;
    this.#body = null;
    this.lastUsed = performance.now();
    this.rssBytes = end?.rssBytes ?? this.rssBytes;
    this.isBroken ||= end === null || end.isBroken;
    if (this.requests === 1) this.yieldToOthers();
    const cause = new Error(end?.reason ?? this.#errorText);
    const reason = end?.isRefused ? "wouldWrite" : this.#killedFor;
    const isComplete = end !== null && !end.isBroken && !end.isRefused;
    exchange.end({
      failure: isComplete ? null : { reason, cause },
      isLost: end === null,
      isCacheable: end?.isCacheable ?? false,
      tags: end?.tags ?? null,
      errors: end?.errors ?? "",
      hasWritten: end?.hasWritten ?? exchange.hasBegun,
    });
  }

  kill(reason: NoAnswerReason): void {
    this.#killedFor = reason;
    this.isBroken = true;
    this.#child.kill();
  }
}
