/** How request bodies are read: JSON, or nothing at all. */
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance } from "fastify";
import { HttpFailure, Malformed } from "./faults.ts";

const oneMebibyte = 1_048_576;
export const bodyLimit = oneMebibyte;

/** A body as it was sent, beside what it says. */
export interface ReadBody {
  readonly text: string;
  readonly value: unknown;
}

/** An empty body is none, whatever it is declared as; anything else must be declared as JSON. */
export function readJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  // Fastify refuses a type that it can't read before it looks whether there is a body at all.
  server.addHook("onRequest", async ({ headers }) => {
    if (isWithoutBody(headers)) headers["content-type"] = undefined;
  });
  const options = { parseAs: "buffer", bodyLimit } as const;
  server.addContentTypeParser("application/json", options, async (_: unknown, bytes: Buffer) => read(decode(bytes)));
  server.addContentTypeParser("*", options, async (_: unknown, bytes: Buffer) => {
    if (bytes.length > 0) throw new HttpFailure(415);
    return undefined;
  });
}

function isWithoutBody(headers: IncomingHttpHeaders): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes that are no characters are refused: replaced by others, they would change what the user typed. */
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Malformed([{ path: "", message: "is not valid UTF-8" }]);
  }
}

function read(text: string): ReadBody | undefined {
  if (text.trim() === "") return undefined;
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    throw new Malformed([{ path: "", message: "is not valid JSON" }]);
  }
}
