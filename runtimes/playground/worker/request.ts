/** One visitor's request, run by PHP; what PHP writes is passed on as it comes. */
import path from "node:path";
import type { Duplex } from "node:stream";
import type { PhpRunOptions, StreamedPhpResponse } from "@php-wasm/universal";
import type { GuardedPhp } from "../php/boot.ts";
import { siteFolder } from "../php/folders.ts";
import { taskScript, writeTaskInput } from "../php/platform.ts";
import { serverVariables } from "../php/site.ts";
import { ErrorLog } from "./errorLog.ts";
import { frameKinds, type RequestHead, type ResponseEnd, sendJson } from "./frames.ts";
import { directWriter, heldWriter, type ResponseWriter } from "./responseWriter.ts";

export interface WorkerRequest {
  readonly head: RequestHead;
  readonly body: Buffer;
}

/** Not from visitors: `proxy` would become `HTTP_PROXY`, which programs take for a setting. */
const refusedHeaders = new Set(["proxy"]);

/** Header values arrive one character for each byte; PHP is given text, which becomes those bytes again if it was UTF-8. */
function asText(value: string): string {
  return /^[\x20-\x7e\t]*$/.test(value) ? value : Buffer.from(value, "latin1").toString("utf8");
}

function headersFor(head: RequestHead): Record<string, string> {
  const entries = Object.entries(head.headers).flatMap(([name, value]) => {
    // With underscores, two different headers would become one variable.
    if (refusedHeaders.has(name) || name.includes("_")) return [];
    const joined = typeof value === "string" ? value : value.join(name === "cookie" ? "; " : ", ");
    return [[name, asText(joined)] as const];
  });
  return Object.fromEntries(entries);
}

/** Visitors write what they like here: nothing of it may throw, which would look as if PHP had broken. */
function readHost(host: string): { readonly hostname: string; readonly port: string } {
  const [, hostname = "", port = ""] = /^(.*?)(?::(\d*))?$/.exec(host) ?? [];
  return { hostname: hostname.toLowerCase() || "localhost", port };
}

function variablesFor(head: RequestHead, host: string): Record<string, string> {
  const { hostname, port } = readHost(host);
  const standardPort = head.https ? "443" : "80";
  return {
    ...serverVariables(head.script, head.pathInfo),
    REMOTE_ADDR: head.remoteAddress,
    SERVER_NAME: hostname,
    SERVER_PORT: port || standardPort,
    SERVER_PROTOCOL: "HTTP/1.1",
    REQUEST_SCHEME: head.https ? "https" : "http",
    // The library makes "on" of any text here, "off" included.
    ...(head.https ? { HTTPS: "on" } : {}),
  };
}

function optionsFor(head: RequestHead, body: Buffer): PhpRunOptions & { readonly scriptPath: string } {
  const headers = headersFor(head);
  return {
    scriptPath: head.task === null ? `${siteFolder}${head.script}` : taskScript(head.task),
    relativeUri: head.url,
    protocol: head.https ? "https" : "http",
    method: head.method,
    headers,
    $_SERVER: variablesFor(head, headers.host ?? ""),
    ...(body.length === 0 ? {} : { body }),
  };
}

/** PHP may write any length at once; the reader must be able to pause it. */
const pieceBytes = 1 << 18;

function* inPieces(chunk: Uint8Array): Iterable<Uint8Array> {
  for (let start = 0; start < chunk.length; start += pieceBytes) yield chunk.subarray(start, start + pieceBytes);
}

/** Returns whether the script came to its own end. */
async function passOn(response: StreamedPhpResponse, writer: ResponseWriter, log: ErrorLog): Promise<boolean> {
  const logged = log.read(response.stderr).catch(() => undefined);
  const [status, headers] = await Promise.all([response.httpStatusCode, response.headers]);
  const pairs = Object.entries(headers).flatMap(([name, values]) => values.map((value) => [name, value] as const));
  writer.head({ status, headers: pairs });
  for await (const chunk of response.stdout) {
    for (const piece of inPieces(chunk)) await writer.body(piece);
  }
  // A code other than zero is PHP's way to say that a script died, which WordPress has made a page of.
  const isWhole = (await response.exitCode) === 0;
  await logged;
  return isWhole;
}

async function notFound(writer: ResponseWriter): Promise<void> {
  writer.head({ status: 404, headers: [["content-type", "text/plain; charset=utf-8"]] });
  await writer.body(Buffer.from("Not found\n"));
}

/** Runs PHP's script. Where PHP may change nothing, its answer goes on its way when it is known to be one. */
async function run(
  php: GuardedPhp,
  { head, body }: WorkerRequest,
  direct: ResponseWriter,
  log: ErrorLog,
): Promise<{ readonly isRefused: boolean; readonly isWhole: boolean }> {
  const held = head.isReadOnly ? heldWriter(direct) : null;
  const writer = held ?? direct;
  php.forgetNodes();
  php.writes.protect(head.isReadOnly);
  php.disk.begin(head.diskLeftBytes);
  php.extraLogLines.begin((line) => log.add(line));
  const options = optionsFor(head, body);
  const { scriptPath } = options;
  let isWhole = true;
  if (php.isFile(scriptPath)) {
    // As every web server has it: scripts of plugins load WordPress from where they are.
    php.chdir(path.posix.dirname(`${siteFolder}${head.script}`));
    if (head.task !== null) writeTaskInput(php, head.task);
    isWhole = await passOn(await php.runStream(options), writer, log);
  } else await notFound(writer);
  php.closeOutputs();
  const isRefused = php.writes.hasRefused();
  if (!isRefused) await held?.release();
  return { isRefused, isWhole };
}

export async function answer(php: GuardedPhp, request: WorkerRequest, out: Duplex): Promise<void> {
  const log = new ErrorLog(out);
  let isPrivate = false;
  php.touchedPages.begin({
    touched: (touched) => sendJson(out, frameKinds.touched, touched),
    isPrivate: () => {
      isPrivate = true;
    },
  });
  // If this process is killed in the middle of the request, most of it must be known by then.
  php.disk.onGrown((bytes) => sendJson(out, frameKinds.grown, bytes));
  let reason: string | null = null;
  let isRefused = false;
  let isWhole = false;
  try {
    ({ isRefused, isWhole } = await run(php, request, directWriter(out), log));
  } catch (error) {
    // A trap in WebAssembly: every later request would fail too.
    reason = error instanceof Error ? error.message.slice(0, 500) : String(error);
  }
  const rssBytes = process.memoryUsage.rss();
  const hasWritten = php.disk.end();
  const isBroken = reason !== null;
  const end: ResponseEnd = {
    isBroken,
    mayBeCached: isWhole && !isPrivate,
    hasWritten,
    reason,
    isRefused,
    rssBytes,
    errors: log.text,
  };
  sendJson(out, frameKinds.end, end);
}
