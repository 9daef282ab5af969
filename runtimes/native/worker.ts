/**
 * A worker of the pool that runs PHP in one slot of an environment's php-fpm. Its connection is kept from request to request, and a
 * child of php-fpm with it. If a script is ended or dies, its child does too, and the next request gets another one: php-fpm itself and
 * its compiled code stay.
 */
import { existsSync } from "node:fs";
import type { DiskReserve } from "../freeDisk.ts";
import { Exchange } from "../pool/exchange.ts";
import { ProcessPriority } from "../pool/priority.ts";
import type { RequestCallbacks, Worker, WorkerRequest } from "../pool/worker.ts";
import { NoAnswer, type NoAnswerReason, type PhpResponse, type RequestBody } from "../serving.ts";
import { isDiskFull, watchDisk, writtenBytes } from "./diskWatch.ts";
import { platformFile, taskFile } from "./environmentSandbox.ts";
import type { FastCgiConnection } from "./fastcgi/connection.ts";
import { type PhpRun, runInPhp } from "./phpRun.ts";
import { plainResponse } from "./plainResponse.ts";
import { descendantsOf } from "./processTree.ts";
import { type ReadOnlyRequest, runReadOnly } from "./readOnly.ts";
import type { Slot } from "./slots.ts";

export class FpmWorker implements Worker {
  readonly exited: Promise<void>;
  requests = 0;
  rssBytes = 0;
  isBroken = false;
  firstBegan: number | null = null;
  lastUsed = performance.now();
  /** Resolves when the slot can run a request. Rejects if it never will. */
  #slot: Promise<Slot>;
  readonly #deadlineMilliseconds: number;
  readonly #reserve: DiskReserve;
  readonly #exited = Promise.withResolvers<void>();
  readonly #process: { pid: number | undefined; readonly exitCode: null; readonly signalCode: null };
  readonly #priority: ProcessPriority;
  #connection: FastCgiConnection | null = null;
  /** The slot that it is connected to. */
  #connectedSlot: Slot | null = null;
  #killedFor: NoAnswerReason | null = null;
  /** Why the running script was ended. */
  #scriptEndedFor: NoAnswerReason | null = null;
  #isRunning = false;
  /** Scripts that have failed since the last complete response. */
  #failures = 0;
  #hasLeft = false;

  /** `slot`: rejects if php-fpm does not start. */
  constructor(slot: Promise<Slot>, deadlineSeconds: number, reserve: DiskReserve) {
    this.#slot = slot;
    this.#reserve = reserve;
    this.#deadlineMilliseconds = deadlineSeconds * 1000;
    this.exited = this.#exited.promise;
    this.#process = { pid: undefined, exitCode: null, signalCode: null };
    this.#priority = new ProcessPriority(this.#process);
    slot.then(
      (taken) => void taken.ended.then(() => this.#leaveUnless(this.#connection !== null, taken)),
      () => {
        this.isBroken = true;
        // Another attempt would fail, too.
        this.#killedFor ??= "unavailable";
        this.#exited.resolve();
      },
    );
  }

  /** 0 until php-fpm has started its child. */
  get pid(): number {
    if (this.#process.pid === undefined && this.#connectedSlot !== null) {
      this.#process.pid = this.#connectedSlot.pid() ?? undefined;
      this.#priority.apply();
    }
    return this.#process.pid ?? 0;
  }

  /** The ids of PHP's process and its descendants. */
  #processes(): readonly number[] {
    return this.pid === 0 ? [] : [this.pid, ...descendantsOf(this.pid)];
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
    this.#scriptEndedFor = null;
    const deadline = new AbortController();
    const refusal = this.#refusalOf(request);
    const exchange = new Exchange({
      request,
      callbacks,
      deadlineMilliseconds: this.#deadlineMilliseconds,
      onDeadline: () => {
        deadline.abort();
        // A read-only request runs elsewhere, and ends itself.
        if (refusal === null) this.#endScript("deadline");
      },
    });
    void this.#run({ exchange, request, body, deadline: deadline.signal, reserve: this.#reserve }, refusal);
    return exchange.response;
  }

  /** Why the request must not change anything; null: it may. */
  #refusalOf(request: WorkerRequest): NoAnswerReason | null {
    if (request.isReadOnly) return "wouldWrite";
    return isDiskFull(request, this.#reserve) ? "diskFull" : null;
  }

  async #run(asked: Omit<ReadOnlyRequest, "refusal">, refusal: NoAnswerReason | null): Promise<void> {
    const { exchange, request, body } = asked;
    const slot = await this.#slot.catch((error: Error) => error);
    if (slot instanceof Error) return this.#end(exchange, { ...noRun, failure: slot }, false);
    // Nothing waits between here and the connection: the slot of a worker that was killed meanwhile may be another one's.
    if (this.#killedFor !== null) return this.#end(exchange, { ...noRun, failure: new Error("It was ended.") }, false);
    if (request.task !== null && !existsSync(platformFile(taskFile(request.task)))) return this.#refuse(exchange);
    this.firstBegan ??= performance.now();
    if (refusal !== null) {
      await runReadOnly({ ...asked, refusal }, slot.readOnly[refusal === "diskFull" ? "all" : "release"]);
      this.lastUsed = performance.now();
      return;
    }
    const before = slot.databaseState();
    const watch = watchDisk({
      processes: () => this.#processes(),
      before: writtenBytes(this.#processes()),
      leftBytes: request.diskLeftBytes,
      reserve: this.#reserve,
      onExcess: (reason) => {
        exchange.log(Buffer.from(`${reason}\n`));
        this.#endScript("diskFull");
      },
    });
    this.#isRunning = true;
    const connection = this.#connectionTo(slot);
    const run = await runInPhp({
      exchange,
      request,
      body,
      connection,
      messages: slot.messages,
      messageSocketPath: slot.messageSocketPath,
      mail: exchange.callbacks.mail,
      // The next request must find this one's changes reported.
      holdsEnd: true,
      onResponse: (response) => exchange.respond(response, response.body),
      explain: (cause) => new NoAnswer(this.#reason, "PHP ended before its response was complete.", { cause }),
    });
    this.#isRunning = run.failure !== null;
    const written = await watch.end();
    if (written > 0) exchange.callbacks.grown?.(written);
    if (run.failure === null) this.#failures = 0;
    else await this.#replaceChild(slot, connection, exchange.hasBegun);
    this.#isRunning = false;
    const isReading = (request.method === "GET" || request.method === "HEAD") && request.task === null;
    const hasWritten = !isReading || written > 0 || run.failure !== null;
    this.#end(exchange, run, hasWritten || slot.databaseState() !== before);
  }

  /** There is no such task. */
  #refuse(exchange: Exchange): void {
    const response = plainResponse(404, "Not found\n");
    exchange.respond(response, response.body);
    this.#end(exchange, noRun, false);
  }

  #connectionTo(slot: Slot): FastCgiConnection {
    if (this.#connection !== null) return this.#connection;
    const connection = slot.connect();
    this.#connection = connection;
    this.#connectedSlot = slot;
    void connection.closed.then(() => this.#leaveUnless(this.#isRunning, slot));
    return connection;
  }

  /** Ends the running script and its child, but not php-fpm. */
  #endScript(reason: NoAnswerReason): void {
    // Without a child, a request is still waiting for php-fpm.
    if (this.#connection === null) this.kill(reason);
    if (this.#killedFor !== null) return;
    this.#scriptEndedFor ??= reason;
    this.#connectedSlot?.kill();
    this.#connection?.close();
  }

  /** After a failure: the slot gets another child with the next request, or the worker ends. */
  async #replaceChild(slot: Slot, connection: FastCgiConnection, hasBegun: boolean): Promise<void> {
    slot.kill();
    connection.close();
    await connection.closed;
    this.#forgetChild();
    this.#failures += 1;
    if (this.#failures === maxFailures) slot.retire();
    if (!hasBegun || this.#killedFor !== null) return void this.#leave(slot);
    this.#slot = this.#renewed(slot);
    this.#slot.catch(() => undefined);
  }

  async #renewed(slot: Slot): Promise<Slot> {
    if ((await slot.renew()) && !this.#hasLeft) return slot;
    void this.#leave(slot);
    throw new Error("The environment's php-fpm gets no more requests.");
  }

  #forgetChild(): void {
    // Another process may get its id.
    this.#connectedSlot = null;
    this.#process.pid = undefined;
    this.#connection = null;
    this.rssBytes = 0;
    this.#priority.forgetProcess();
  }

  #leaveUnless(isKept: boolean, slot: Slot): void {
    if (!isKept) void this.#leave(slot);
  }

  async #leave(slot: Slot): Promise<void> {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.isBroken = true;
    this.#forgetChild();
    await slot.free();
    this.#exited.resolve();
  }

  get #reason(): NoAnswerReason {
    return this.#scriptEndedFor ?? this.#killedFor ?? "crashed";
  }

  #end(exchange: Exchange, { failure, isPrivate, isLost, tags, errors }: PhpRun, hasWritten: boolean): void {
    this.lastUsed = performance.now();
    if (this.requests === 1) this.yieldToOthers();
    exchange.end({
      failure: failure === null ? null : { reason: this.#reason, cause: failure },
      isLost,
      isCacheable: !isPrivate,
      tags,
      errors,
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

/** In a row. Then php-fpm may be to blame, for example because its shared memory is damaged. */
const maxFailures = 2;

const noRun: PhpRun = { failure: null, isPrivate: true, isLost: false, tags: null, errors: "" };
