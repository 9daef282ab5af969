/** Runs one request in php-fpm, and notes what PHP tells about it. */
import { randomUUID } from "node:crypto";
import type { Exchange } from "../pool/exchange.ts";
import { createPhpMessages, type PhpMessageListener } from "../pool/phpMessages.ts";
import type { RequestCallbacks, WorkerRequest } from "../pool/worker.ts";
import type { RequestBody } from "../serving.ts";
import { type FastCgiConnection, type FastCgiResponse, NoResponse } from "./fastcgi/connection.ts";
import { parametersOf } from "./fastcgi/parameters.ts";
import { ProtocolError } from "./fastcgi/records.ts";
import type { MessageSocket } from "./messageSocket.ts";
import { createPhpLog } from "./phpLog.ts";
import { plainResponse } from "./plainResponse.ts";
import { receiveMessage } from "./receiveMessage.ts";

interface PhpRunOptions {
  readonly exchange: Exchange;
  readonly request: WorkerRequest;
  readonly body: RequestBody | null;
  readonly connection: FastCgiConnection;
  readonly messages: MessageSocket;
  /** The path of the socket for messages in the sandbox. */
  readonly messageSocketPath: string;
  readonly mail: RequestCallbacks["mail"];
  /** Called when PHP could not make a change, because everything is read-only. */
  readonly onRefused?: () => void;
  /** Whether the caller ends the body of a complete response. */
  readonly holdsEnd: boolean;
  /** The response begins. */
  readonly onResponse: (response: FastCgiResponse) => void;
  /** Returns the error that a response ends with if it breaks off. */
  readonly explain: (cause: Error) => Error;
}

/** How PHP has run the request. */
export interface PhpRun {
  /** Null if the response is complete. */
  readonly failure: Error | null;
  /** Whether the site declared its response private, the script has died, or the message that says so may be lost. */
  readonly isPrivate: boolean;
  /** Whether reports of changes may be lost. */
  readonly isLost: boolean;
  readonly tags: readonly string[] | null;
  /** The beginning of the log. */
  readonly errors: string;
}

/** Resolves when PHP has finished. Never rejects. */
export async function runInPhp(options: PhpRunOptions): Promise<PhpRun> {
  const { exchange, request, body, connection, messages, messageSocketPath, explain } = options;
  const log = createPhpLog();
  const token = randomUUID();
  const facts = receive(options, token, (line) => exchange.log(log.add(line)));
  let failure: Error | null = null;
  try {
    const seconds = exchange.deadlineMilliseconds / 1000;
    const response = await connection
      .request({
        parameters: parametersOf(request, {
          bodyBytes: body?.bytes ?? 0,
          messageSocket: messageSocketPath,
          messageToken: token,
          seconds,
        }),
        body,
        holdsEnd: options.holdsEnd,
        onErrors: (piece) => exchange.log(log.take(piece)),
        onPace: () => exchange.restartDeadline(),
        explain,
      })
      .catch((error: unknown) => {
        // PHP can't get a header or URL that is this long.
        if (error instanceof ProtocolError) {
          facts.hasEnded = true;
          facts.isPrivate = true;
          return tooLong(options);
        }
        throw error;
      });
    exchange.hasBegun = true;
    options.onResponse(response);
    if (!(await response.finished)) failure = new Error("The response broke off.");
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    // PHP may have begun a request that was sent, so it is not run again.
    exchange.hasBegun ||= !(error instanceof NoResponse && error.reason === "notSent");
  }
  messages.setReceiver(null);
  exchange.log(log.end());
  const { hasEnded, isPrivate, tags } = facts;
  const isLost = !hasEnded && exchange.hasBegun;
  return { failure, isPrivate: isPrivate || !hasEnded, isLost, tags, errors: log.excerpt() };
}

function tooLong({ holdsEnd }: PhpRunOptions): FastCgiResponse {
  const response = plainResponse(431, "The request's headers are too long\n");
  if (!holdsEnd) response.body.push(null);
  return response;
}

/** PHP's messages so far. */
interface Facts {
  /** Whether all messages have arrived. */
  hasEnded: boolean;
  isPrivate: boolean;
  tags: readonly string[] | null;
}

/** `token`: the prefix of this request's messages. Programs that earlier requests have left running don't know it. */
function receive(
  { exchange, request, messages, mail, onRefused }: PhpRunOptions,
  token: string,
  log: (line: string) => void,
): Facts {
  const facts: Facts = { hasEnded: false, isPrivate: false, tags: null };
  const makePrivate = () => {
    facts.isPrivate = true;
  };
  const listener: PhpMessageListener = {
    onStalePages: (pages) => exchange.reportStalePages(pages),
    isPrivate: makePrivate,
    shows: (tags) => {
      facts.tags = tags;
    },
    ended: (hasFailed) => {
      facts.hasEnded = true;
      if (hasFailed) makePrivate();
    },
    ...(onRefused && { refused: onRefused }),
  };
  const phpMessages = createPhpMessages();
  phpMessages.begin(listener, request.task?.input);
  messages.setReceiver((message) => {
    exchange.hasBegun ||= message.startsWith(token);
    return receiveMessage(message, { token, messages: phpMessages, mail, log });
  });
  return facts;
}
