/**
 * A worker of the pool that runs PHP in one slot of an environment's php-fpm. Its connection is kept from request to request, and a
 * child of php-fpm with it.
 */
import { Exchange } from "../pool/exchange.ts";
import { createPhpMessages } from "../pool/phpMessages.ts";
import { ProcessPriority } from "../pool/priority.ts";
import type { RequestCallbacks, Worker, WorkerRequest } from "../pool/worker.ts";
import { NoAnswer, type NoAnswerReason, type PhpResponse, type RequestBody } from "../serving.ts";
import { type FastCgiConnection, NoResponse } from "./fastcgi/connection.ts";
import { parametersOf } from "./fastcgi/parameters.ts";
import { createPhpLog, type PhpLog } from "./phpLog.ts";
import { receiveMessage } from "./receiveMessage.ts";
import type { Slot } from "./slots.ts";

const findMilliseconds = 20;

/** The request that is running, and what PHP has told about it. */
interface Current {
  readonly exchange: Exchange;
  readonly log: PhpLog;
  readonly request: WorkerRequest;
  /** The database's state before the request. */
  readonly database: string;
  isPrivate: boolean;
  hasFailed: boolean;
  tags: readonly string[] | null;
}

export class FpmWorker implements Worker {
  readonly exited: Promise<void>;
  requests = 0;
  rssBytes = 0;
  isBroken = false;
  firstBegan: number | null = null;
  lastUsed = performance.now();
  readonly #slot: Promise<Slot>;
  readonly #deadlineMilliseconds: number;
  readonly #exited = Promise.withResolvers<void>();
  readonly #messages = createPhpMessages();
  readonly #process: { pid: number | undefined; readonly exitCode: null; readonly signalCode: null };
  readonly #priority: ProcessPriority;
  #connection: FastCgiConnection | null = null;
  #killedFor: NoAnswerReason | null = null;

  /** `slot`: rejects if php-fpm does not start. */
  constructor(slot: Promise<Slot>, deadlineSeconds: number) {
    this.#slot = slot;
    this.#deadlineMilliseconds = deadlineSeconds * 1000;
    this.exited = this.#exited.promise;
    this.#process = { pid: undefined, exitCode: null, signalCode: null };
    this.#priority = new ProcessPriority(this.#process);
    slot.catch(() => {
      this.isBroken = true;
      this.#exited.resolve();
    });
  }

  /** 0 until php-fpm has started its child. */
  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get isStuckAtLowPriority(): boolean {
    return this.#priority.isStuck;
  }

  yieldToOthers(): void {
    this.#priority.setYielding(true);
  }

  raisePriority(): void {
    this.#priority.setYielding(false);
  }

  setLoadSteps(steps: number): void {
    this.#priority.setLoadSteps(steps);
  }

  handle(request: WorkerRequest, body: RequestBody | null, callbacks: RequestCallbacks): Promise<PhpResponse> {
    this.requests += 1;
    const exchange = new Exchange({
      request,
      callbacks,
      deadlineMilliseconds: this.#deadlineMilliseconds,
      onDeadline: () => this.kill("deadline"),
    });
    void this.#run(exchange, request, body);
    return exchange.response;
  }

  async #run(exchange: Exchange, request: WorkerRequest, body: RequestBody | null): Promise<void> {
    const slot = await this.#slot.catch((error: Error) => error);
    if (slot instanceof Error) return this.#end(this.#currentOf(exchange, request, ""), null, slot, false);
    const current = this.#currentOf(exchange, request, await slot.databaseState());
    if (this.#killedFor !== null) return this.#end(current, slot, new Error("It was ended."), false);
    this.#listen(current, slot);
    this.firstBegan ??= performance.now();
    try {
      const response = await this.#connectionTo(slot).request({
        parameters: parametersOf(request, {
          bodyBytes: body?.bytes ?? 0,
          messageSocket: slot.messageSocketPath,
          seconds: exchange.deadlineMilliseconds / 1000,
        }),
        body,
        onErrors: (piece) => {
          exchange.hasBegun = true;
          exchange.log(current.log.take(piece));
        },
        onPace: () => exchange.restartDeadline(),
        explain: (cause) =>
          new NoAnswer(this.#killedFor ?? "crashed", "PHP ended before its response was complete.", { cause }),
      });
      exchange.hasBegun = true;
      exchange.respond(response, response.body);
      const isComplete = await response.finished;
      await this.#end(current, slot, isComplete ? null : new Error("The response broke off."), !isComplete);
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      // Sent requests may have been begun, so they are not run again.
      exchange.hasBegun ||= error instanceof NoResponse && error.reason !== "notSent";
      await this.#end(current, slot, cause, exchange.hasBegun);
    }
  }

  #currentOf(exchange: Exchange, request: WorkerRequest, database: string): Current {
    return { exchange, log: createPhpLog(), request, database, isPrivate: false, hasFailed: false, tags: null };
  }

  #listen(current: Current, slot: Slot): void {
    const { exchange, request } = current;
    const listener = {
      onStalePages: exchange.reportStalePages.bind(exchange),
      isPrivate: () => {
        current.isPrivate = true;
      },
      shows: (tags: readonly string[] | null) => {
        current.tags = tags;
      },
      failed: () => {
        current.hasFailed = true;
      },
    };
    this.#messages.begin(listener, request.task?.input);
    const { mail } = exchange.callbacks;
    const log = (line: string) => exchange.log(current.log.add(line));
    slot.messages.setReceiver((message) => {
      exchange.hasBegun = true;
      return receiveMessage(message, { messages: this.#messages, mail, log });
    });
  }

  #connectionTo(slot: Slot): FastCgiConnection {
    if (this.#connection !== null) return this.#connection;
    const connection = slot.connect();
    this.#connection = connection;
    void connection.closed.then(() => this.#leave(slot));
    this.#findChild(slot);
    return connection;
  }

  /** Waits until php-fpm has started the child. */
  #findChild(slot: Slot): void {
    if (this.isBroken) return;
    const pid = slot.pid();
    if (pid === null) return void setTimeout(() => this.#findChild(slot), findMilliseconds).unref();
    this.#process.pid = pid;
    this.#priority.apply();
  }

  async #leave(slot: Slot): Promise<void> {
    this.isBroken = true;
    await slot.free();
    this.#exited.resolve();
  }

  /** Ends the request. `isLost`: PHP had it, and could not finish it. */
  async #end(current: Current, slot: Slot | null, failure: Error | null, isLost: boolean): Promise<void> {
    const { exchange, log, isPrivate, hasFailed, tags } = current;
    const hasWritten = isLost || (slot !== null && (await hasChanged(slot, current)));
    this.lastUsed = performance.now();
    if (failure !== null) this.isBroken = true;
    if (this.requests === 1) this.yieldToOthers();
    exchange.log(log.end());
    exchange.end({
      failure: failure === null ? null : { reason: this.#killedFor ?? "crashed", cause: failure },
      isLost,
      isCacheable: !isPrivate && !hasFailed,
      tags,
      errors: log.excerpt(),
      hasWritten,
    });
  }

  kill(reason: NoAnswerReason): void {
    if (this.#killedFor !== null) return;
    this.#killedFor = reason;
    this.isBroken = true;
    void this.#slot.then(
      (slot) => {
        slot.kill();
        if (this.#connection === null) void this.#leave(slot);
        else this.#connection.close();
      },
      () => undefined,
    );
  }
}

/** Whether a request has changed files or the database, or may have. */
async function hasChanged(slot: Slot, { request: { method, task }, database }: Current): Promise<boolean> {
  const isReading = (method === "GET" || method === "HEAD") && task === null;
  return !isReading || (await slot.databaseState()) !== database;
}
