/**
 * Read-only requests, which get no response if PHP attempts a change. They run in a php-fpm of their own, one at a time. Its
 * database is mounted read-only, and the platform's PHP reports refused statements. Changes of files go to a layer above the
 * files (overlayfs), which the site never sees again.
 */
import type { Readable } from "node:stream";
import type { DiskReserve } from "../freeDisk.ts";
import type { Exchange } from "../pool/exchange.ts";
import type { WorkerRequest } from "../pool/worker.ts";
import type { NoAnswerReason, RequestBody } from "../serving.ts";
import { watchDisk, writtenBytes } from "./diskWatch.ts";
import type { FastCgiConnection, FastCgiResponse } from "./fastcgi/connection.ts";
import { createHeldBudget, holdContent } from "./heldResponse.ts";
import type { MessageSocket } from "./messageSocket.ts";
import { type PhpRun, runInPhp } from "./phpRun.ts";

/** A php-fpm for read-only requests. */
export interface ReadOnlyPhp {
  readonly companyId: string;
  connect(): FastCgiConnection;
  readonly messages: MessageSocket;
  readonly messageSocketPath: string;
  /** Folder on a disk, closed to others, for responses that are held back. */
  readonly heldFolder: string;
  /** Whether a script has changed files. The php-fpm then can't be used again. */
  hasChangedFiles(): Promise<boolean>;
  /** The ids of its processes that run scripts. */
  processes(): readonly number[];
  kill(): void;
}

/** What a script may write to the layer before it is ended: the layer is not part of the environment, so its disk space is not. */
const maxLayerBytes = 64 << 20;

/** Of this process, which serves all companies. Their visitors decide how long a response is held. */
const heldBudget = createHeldBudget({ companyBytes: 256 * 2 ** 20, totalBytes: 2 * 2 ** 30 });

/**
 * Runs the work with a php-fpm that nothing else uses meanwhile. Rejects if none can be started, and if the signal is aborted before
 * it is free.
 */
export type UseReadOnlyPhp = <T>(work: (php: ReadOnlyPhp) => Promise<T>, signal: AbortSignal) => Promise<T>;

export interface ReadOnlyRequest {
  readonly exchange: Exchange;
  readonly request: WorkerRequest;
  readonly body: RequestBody | null;
  readonly deadline: AbortSignal;
  readonly reserve: DiskReserve;
  /** Why changes are refused. */
  readonly refusal: NoAnswerReason;
}

/** Runs the request and ends the exchange. Never rejects. */
export async function runReadOnly(asked: ReadOnlyRequest, use: UseReadOnlyPhp): Promise<void> {
  const { exchange, deadline } = asked;
  try {
    await use((php) => runIn(php, asked), deadline);
  } catch (error) {
    const cause = error instanceof Error ? error : new Error(String(error));
    const reason = deadline.aborted ? "deadline" : "unavailable";
    end(exchange, { failure: cause, isPrivate: true, isLost: false, tags: null, errors: "" }, reason);
  }
}

async function runIn(php: ReadOnlyPhp, asked: ReadOnlyRequest): Promise<void> {
  const { exchange, request, body, deadline, reserve, refusal } = asked;
  let reason: NoAnswerReason = "crashed";
  let isRefused = false;
  const refuse = () => {
    isRefused = true;
  };
  const connection = php.connect();
  const stop = () => {
    reason = "deadline";
    php.kill();
    connection.close();
  };
  deadline.addEventListener("abort", stop, { once: true });
  if (deadline.aborted) stop();
  const giveUp = () => {
    refuse();
    php.kill();
    connection.close();
  };
  const watch = watchDisk({
    processes: php.processes,
    before: writtenBytes(php.processes()),
    leftBytes: maxLayerBytes,
    reserve,
    onExcess: giveUp,
  });
  const held: { readonly response: FastCgiResponse; readonly content: Promise<Readable | null> }[] = [];
  const run = await runInPhp({
    exchange,
    request,
    body,
    connection,
    messages: php.messages,
    messageSocketPath: php.messageSocketPath,
    mail: async () => {
      refuse();
      return "nothing can be sent at the moment";
    },
    onRefused: refuse,
    holdsEnd: false,
    onResponse: (response) => {
      const { companyId, heldFolder: folder } = php;
      const options = { companyId, budget: heldBudget, folder, reserve, onExcess: giveUp };
      held.push({ response, content: holdContent(response.body, options) });
    },
    explain: (cause) => cause,
  });
  connection.close();
  await watch.end();
  const [first] = held;
  const content = (await first?.content) ?? null;
  // The message that a change was refused may be lost, too.
  if (isRefused || (run.failure === null && run.isLost) || (await php.hasChangedFiles())) {
    content?.destroy();
    end(exchange, { ...run, failure: new Error("PHP attempted a change.") }, refusal);
    return;
  }
  if (first !== undefined && content !== null) exchange.respond(first.response, content, { endsItself: true });
  end(exchange, run, reason);
}

function end(exchange: Exchange, { failure, isPrivate, tags, errors }: PhpRun, reason: NoAnswerReason): void {
  exchange.end({
    failure: failure === null ? null : { reason, cause: failure },
    isLost: false,
    isCacheable: !isPrivate,
    tags,
    errors,
    hasWritten: false,
  });
}
