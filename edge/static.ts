/** Sends a file: type, length, ranges, validators and how long it may be kept. */
import { once } from "node:events";
import { ReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { type SendOptions, type SendResult, send } from "@fastify/send";
import { sendPage } from "./pages.ts";
import { encodePath } from "./path.ts";
import type { Visit } from "./visit.ts";

const year = 365 * 24 * 60 * 60 * 1000;
const hour = 60 * 60 * 1000;

/** WordPress puts the version of an asset into its address, so what such an address names never changes. */
const versioned = /[?&]ver=[^&]/;
const htmlFile = /\.html?$/i;

/** `file` is absolute and free of symbolic links, as `resolve` gives it. */
export async function sendFile(visit: Visit, file: string): Promise<void> {
  const { request, response } = visit;
  if (request.method !== "GET" && request.method !== "HEAD") {
    return sendPage(request, response, "methodNotAllowed", { allow: "GET, HEAD" });
  }
  const result = await send(request, encodePath(file.split("/").slice(1)), {
    dotfiles: "allow",
    index: false,
    ...caching(file, visit.path.query),
  });
  if (!(await opens(result))) return sendPage(request, response, "notFound");
  response.writeHead(result.statusCode, { ...result.headers, "X-Content-Type-Options": "nosniff", ...named(result) });
  await pipeline(result.stream, response);
}

/** How long a visitor may keep a file without asking again. A page may change its address's content at any time. */
function caching(file: string, query: string): Pick<SendOptions, "maxAge" | "immutable"> {
  if (htmlFile.test(file)) return { maxAge: 0 };
  return versioned.test(query) ? { maxAge: year, immutable: true } : { maxAge: hour };
}

/** A file of unknown kind is for downloading, never for a browser to guess at. */
function named(result: SendResult): Readonly<Record<string, string>> {
  const isFile = result.type === "file" && result.statusCode !== 304;
  return isFile && result.headers["Content-Type"] === undefined ? { "Content-Type": "application/octet-stream" } : {};
}

/** False where the file has gone, or can't be read, since it was looked for: nothing has been promised to the visitor yet. */
async function opens(result: SendResult): Promise<boolean> {
  if (result.type === "directory") return false;
  if (result.type === "error") return result.statusCode === 412 || result.statusCode === 416;
  if (!(result.stream instanceof ReadStream) || !result.stream.pending) return true;
  try {
    await once(result.stream, "open");
    return true;
  } catch {
    return false;
  }
}
