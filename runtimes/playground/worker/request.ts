/** Runs one request in PHP and streams the response. */
import path from "node:path";
import type { Duplex } from "node:stream";
import type { PhpRunOptions, StreamedPhpResponse } from "@php-wasm/universal";
import { siteFolder, taskScript } from "../../phpFolders.ts";
import type { PhpMessageListener } from "../../pool/phpMessages.ts";
import { headersForPhp, requestVariables } from "../../pool/requestVariables.ts";
import type { GuardedPhp } from "../php/boot.ts";
import { ErrorLog } from "./errorLog.ts";
import { frameKinds, type RequestHead, type ResponseEnd, sendJson } from "./frames.ts";
import { bufferingWriter, directWriter, type ResponseWriter } from "./responseWriter.ts";

interface WorkerRequest {
  readonly head: RequestHead;
  readonly body: Buffer;
}

function optionsFor(head: RequestHead, body: Buffer): PhpRunOptions & { readonly scriptPath: string } {
  const headers = headersForPhp(head);
  return {
    scriptPath: head.task === null ? `${siteFolder}${head.script}` : taskScript(head.task),
    relativeUri: head.url,
    protocol: head.https ? "https" : "http",
    method: head.method,
    headers,
    $_SERVER: requestVariables(head),
    ...(body.length === 0 ? {} : { body }),
  };
}

/** Chunks from PHP can have any length; smaller pieces let the reader pause it. */
const pieceBytes = 1 << 18;

function* inPieces(chunk: Uint8Array): Iterable<Uint8Array> {
  for (let start = 0; start < chunk.length; start += pieceBytes) yield chunk.subarray(start, start + pieceBytes);
}

/** Streams the response. Returns whether the script completed. */
async function passOn(response: StreamedPhpResponse, writer: ResponseWriter, log: ErrorLog): Promise<boolean> {
  const logged = log.read(response.stderr).catch(() => undefined);
  const [status, headers] = await Promise.all([response.httpStatusCode, response.headers]);
  const pairs = Object.entries(headers).flatMap(([name, values]) => values.map((value) => [name, value] as const));
  writer.head({ status, headers: pairs });
  for await (const chunk of response.stdout) {
    for (const piece of inPieces(chunk)) await writer.body(piece);
  }
  // A code other than zero means that the script died, and WordPress has rendered an error page.
  const isComplete = (await response.exitCode) === 0;
  await logged;
  return isComplete;
}

async function notFound(writer: ResponseWriter): Promise<void> {
  writer.head({ status: 404, headers: [["content-type", "text/plain; charset=utf-8"]] });
  await writer.body(Buffer.from("Not found\n"));
}

/** Runs the script. For a write-protected request the response is buffered until it is known to be valid. */
async function run(
  php: GuardedPhp,
  { head, body }: WorkerRequest,
  direct: ResponseWriter,
  log: ErrorLog,
): Promise<{ readonly isRefused: boolean; readonly isComplete: boolean }> {
  const buffering = head.isReadOnly ? bufferingWriter(direct) : null;
  const writer = buffering ?? direct;
  php.forgetNodes();
  php.writes.protect(head.isReadOnly);
  php.disk.begin(head.diskLeftBytes);
  php.announceTimeLimit(head.deadlineSeconds);
  php.extraLogLines.begin((line) => log.add(line));
  const options = optionsFor(head, body);
  const { scriptPath } = options;
  let isComplete = true;
  if (php.isFile(scriptPath)) {
    // As with every web server: scripts of plugins load WordPress by relative paths.
    php.chdir(path.posix.dirname(`${siteFolder}${head.script}`));
    isComplete = await passOn(await php.runStream(options), writer, log);
  } else await notFound(writer);
  php.closeOutputs();
  const isRefused = php.writes.hasRefused();
  if (!isRefused) await buffering?.release();
  return { isRefused, isComplete };
}

export async function answer(php: GuardedPhp, request: WorkerRequest, out: Duplex): Promise<void> {
  const log = new ErrorLog(out);
  let isPrivate = false;
  let tags: readonly string[] | null = null;
  const listener: PhpMessageListener = {
    onStalePages: (pages) => sendJson(out, frameKinds.stalePages, pages),
    isPrivate: () => {
      isPrivate = true;
    },
    shows: (shown) => {
      tags = shown;
    },
  };
  php.messages.begin(listener, request.head.task?.input);
  // Reports growth early, because this process may be killed during the request.
  php.disk.onGrown((bytes) => sendJson(out, frameKinds.grown, bytes));
  let reason: string | null = null;
  let isRefused = false;
  let isComplete = false;
  try {
    ({ isRefused, isComplete } = await run(php, request, directWriter(out), log));
  } catch (error) {
    // A trap in WebAssembly: all later requests would fail too.
    reason = error instanceof Error ? error.message.slice(0, 500) : String(error);
  }
  const rssBytes = process.memoryUsage.rss();
  const hasWritten = php.disk.end();
  const isBroken = reason !== null;
  const end: ResponseEnd = {
    isBroken,
    isCacheable: isComplete && !isPrivate,
    tags,
    hasWritten,
    reason,
    isRefused,
    rssBytes,
    errors: log.text,
  };
  sendJson(out, frameKinds.end, end);
}
