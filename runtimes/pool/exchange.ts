/** The request that a worker is running, with its response: what every engine's worker does with them. */
import type { Readable } from "node:stream";
import { NoAnswer, type NoAnswerReason, type PhpResponse, type StalePages } from "../serving.ts";
import { createLineReader } from "./lines.ts";
import { mayEdit } from "./mayEdit.ts";
import { mergeStalePages, noStalePages } from "./stalePages.ts";
import { type RequestCallbacks, RequestNotStarted, type WorkerRequest } from "./worker.ts";

interface ExchangeOptions {
  readonly request: WorkerRequest;
  readonly callbacks: RequestCallbacks;
  /** The worker's default. */
  readonly deadlineMilliseconds: number;
  /** Called when the time is over: must end PHP. */
  readonly onDeadline: () => void;
}

/** How a request ended. */
interface ExchangeEnd {
  /** Null if the response is complete. Otherwise why there is none, or why it broke off. */
  readonly failure: { readonly reason: NoAnswerReason; readonly cause: Error } | null;
  /** Whether PHP ended before it could report all changes. */
  readonly isLost: boolean;
  /** Whether the script completed and did not declare its response private. */
  readonly isCacheable: boolean;
  readonly tags: readonly string[] | null;
  /** The beginning of PHP's log output. */
  readonly errors: string;
  readonly hasWritten: boolean;
}

export class Exchange {
  /** Resolves when the response begins. Rejects with `RequestNotStarted` or `NoAnswer` if there is none. */
  readonly response: Promise<PhpResponse>;
  readonly deadlineMilliseconds: number;
  readonly callbacks: RequestCallbacks;
  /** Whether PHP has the request. */
  hasBegun = false;
  readonly #mayEdit: boolean;
  readonly #responding = Promise.withResolvers<PhpResponse>();
  readonly #isCacheable = Promise.withResolvers<boolean>();
  readonly #tags = Promise.withResolvers<readonly string[] | null>();
  readonly #errors = Promise.withResolvers<string>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #log;
  readonly #onDeadline: () => void;
  #body: Readable | null = null;
  #endsItself = false;
  #stalePages: StalePages = noStalePages;
  #timer: NodeJS.Timeout | null = null;
  #hasEnded = false;

  constructor({ request, callbacks, deadlineMilliseconds, onDeadline }: ExchangeOptions) {
    const { deadlineSeconds = null } = callbacks;
    this.deadlineMilliseconds = deadlineSeconds === null ? deadlineMilliseconds : deadlineSeconds * 1000;
    this.callbacks = callbacks;
    this.response = this.#responding.promise;
    this.#mayEdit = mayEdit(request);
    this.#log = createLineReader((line) => callbacks.onErrorLine?.(line));
    this.#onDeadline = onDeadline;
    this.restartDeadline();
  }

  /** Call it when PHP waits for a slow visitor, who gets as much time to continue reading, and when PHP goes on. */
  restartDeadline(): void {
    this.#stopDeadline();
    // The end of a response may be read after PHP has finished.
    if (this.#hasEnded) return;
    this.#timer = setTimeout(() => {
      this.callbacks.timedOut?.();
      this.#onDeadline();
    }, this.deadlineMilliseconds);
  }

  #stopDeadline(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Takes PHP's log output. */
  log(bytes: Uint8Array): void {
    this.#log.read(bytes);
  }

  /** Takes pages that PHP has made outdated. */
  reportStalePages(pages: StalePages): void {
    const before = this.#stalePages;
    this.#stalePages = mergeStalePages(before, pages);
    if (!before.everything) this.callbacks.onStalePages?.(this.#stalePages.everything ? this.#stalePages : pages);
  }

  /** The response begins. The reader of the body determines its pace. `endsItself`: else `end` ends a body that is complete. */
  respond(
    { status, headers }: Pick<PhpResponse, "status" | "headers">,
    body: Readable,
    { endsItself = false }: { readonly endsItself?: boolean } = {},
  ): void {
    // A response that is not read to its end must not cause errors when it is aborted.
    body.on("error", () => undefined);
    this.#body = body;
    this.#endsItself = endsItself;
    this.#responding.resolve({
      status,
      headers,
      body,
      isCacheable: this.#isCacheable.promise,
      tags: this.#tags.promise,
      errors: this.#errors.promise,
      finished: this.#ended.promise,
    });
  }

  /** Further calls have no effect. */
  end({ failure, isLost, isCacheable, tags, errors, hasWritten }: ExchangeEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stopDeadline();
    this.#log.end();
    // PHP may have been killed between a change and its report.
    if (isLost && this.#mayEdit) this.#stalePages = { ...noStalePages, everything: true };
    if (this.#stalePages !== noStalePages) this.callbacks.onStalePages?.(this.#stalePages);
    this.#errors.resolve(errors);
    this.#ended.resolve();
    this.#isCacheable.resolve(failure === null && isCacheable);
    this.#tags.resolve(tags);
    if (failure !== null) this.#fail(failure);
    else if (!this.#endsItself) this.#body?.push(null);
    this.callbacks.finished(hasWritten);
  }

  #fail({ reason, cause }: NonNullable<ExchangeEnd["failure"]>): void {
    const error = noAnswer(reason, cause);
    if (!this.hasBegun && reason === "crashed")
      this.#responding.reject(new RequestNotStarted(cause.message, { cause }));
    else if (this.#body === null) this.#responding.reject(error);
    else this.#body.destroy(error);
  }
}

/** The error of a response that PHP did not complete. */
function noAnswer(reason: NoAnswerReason, cause: Error): NoAnswer {
  const message =
    reason === "wouldWrite"
      ? "PHP attempted a change, but the environment is read-only at the moment."
      : "PHP ended before its response was complete.";
  return new NoAnswer(reason, message, { cause });
}
