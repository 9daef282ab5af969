/** One visitor's request, run by PHP; what PHP writes is passed on as it comes. */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import type { PhpRunOptions, StreamedPhpResponse } from "@php-wasm/universal";
import type { GuardedPhp } from "../php/boot.ts";
import { siteFolder } from "../php/folders.ts";
import { serverVariables } from "../php/site.ts";
import { frameKinds, type RequestHead, type ResponseEnd, sendFrame, sendJson } from "./frames.ts";

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

function optionsFor(head: RequestHead, body: Buffer): PhpRunOptions {
  const headers = headersFor(head);
  return {
    scriptPath: `${siteFolder}${head.script}`,
    relativeUri: head.url,
    protocol: head.https ? "https" : "http",
    method: head.method,
    headers,
    $_SERVER: variablesFor(head, headers.host ?? ""),
    ...(body.length === 0 ? {} : { body }),
  };
}

const errorBytes = 4096;

/** The beginning of what PHP writes to its log; all of it is read, because PHP would wait for a reader. */
class ErrorLog {
  #bytes = Buffer.alloc(0);

  async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const { buffer, byteOffset, byteLength } of stream) {
      const missing = errorBytes - this.#bytes.length;
      if (missing === 0) continue;
      // The library's chunks are really of another type, with signed numbers.
      const piece = Buffer.from(buffer, byteOffset, Math.min(byteLength, missing));
      this.#bytes = Buffer.concat([this.#bytes, piece]);
    }
  }

  /** Without the half of a character at its end. */
  get text(): string {
    return new TextDecoder().decode(this.#bytes, { stream: true });
  }
}

/** What PHP writes at once may be of any length; whoever gets it wants to be able to say stop. */
const pieceBytes = 1 << 18;

function* inPieces(chunk: Uint8Array): Iterable<Uint8Array> {
  for (let start = 0; start < chunk.length; start += pieceBytes) yield chunk.subarray(start, start + pieceBytes);
}

async function passOn(response: StreamedPhpResponse, out: Duplex, log: ErrorLog): Promise<void> {
  const logged = log.read(response.stderr).catch(() => undefined);
  const [status, headers] = await Promise.all([response.httpStatusCode, response.headers]);
  const pairs = Object.entries(headers).flatMap(([name, values]) => values.map((value) => [name, value] as const));
  sendJson(out, frameKinds.head, { status, headers: pairs });
  for await (const chunk of response.stdout) {
    for (const piece of inPieces(chunk)) {
      if (!sendFrame(out, frameKinds.body, piece)) await once(out, "drain");
    }
  }
  // A code other than zero is PHP's way to say that a script died, which WordPress has made a page of.
  await response.exitCode;
  await logged;
}

function notFound(out: Duplex): void {
  sendJson(out, frameKinds.head, { status: 404, headers: [["content-type", "text/plain; charset=utf-8"]] });
  sendFrame(out, frameKinds.body, Buffer.from("Not found\n"));
}

export async function answer(
  php: GuardedPhp,
  request: { readonly head: RequestHead; readonly body: Buffer },
  out: Duplex,
): Promise<void> {
  let reason: string | null = null;
  const log = new ErrorLog();
  try {
    php.forgetNodes();
    const options = optionsFor(request.head, request.body);
    if (php.isFile(options.scriptPath ?? "")) await passOn(await php.runStream(options), out, log);
    else notFound(out);
    php.closeOutputs();
  } catch (error) {
    // A trap in WebAssembly: every later request would fail too.
    reason = error instanceof Error ? error.message.slice(0, 500) : String(error);
  }
  const end: ResponseEnd = { isBroken: reason !== null, reason, rssBytes: process.memoryUsage.rss(), errors: log.text };
  sendJson(out, frameKinds.end, end);
}
