/** Reads request bodies: JSON, or an empty body. */
import type { IncomingHttpHeaders } from "node:http";
import { pipeline, Transform } from "node:stream";
import type { NetworkPace } from "@sitewright/edge/http/networkPace.ts";
import { createPiecePace } from "@sitewright/edge/http/tinyPieces.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { HttpFailure } from "./faults.ts";
import { Malformed } from "./reading/malformed.ts";

const oneMebibyte = 1_048_576;
export const bodyLimit = oneMebibyte;

/** A body as it was sent, and its parsed value. */
export interface ReadBody {
  readonly text: string;
  readonly value: unknown;
}

/** Bytes. Smaller bodies are parsed without a turn. */
const largeBody = 4_096;

/**
 * An empty body counts as no body, whatever its declared type. Any other body must be declared as JSON. `pace` limits how much large
 * bodies of a network delay others.
 */
export function readJsonBodies(server: FastifyInstance, pace: NetworkPace): void {
  server.removeAllContentTypeParsers();
  server.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  // Fastify refuses an unknown type before it checks whether there is a body.
  server.addHook("onRequest", ({ headers }, _reply, done) => {
    if (isWithoutBody(headers)) headers["content-type"] = undefined;
    done();
  });
  server.addHook("preParsing", async ({ headers }, _reply, payload) => {
    if (headers["transfer-encoding"] === undefined) return payload;
    // Unlike `pipe`, it also ends the request if the client leaves.
    return pipeline(payload, slowTinyPieces(), () => undefined);
  });
  const options = { parseAs: "buffer", bodyLimit } as const;
  server.addContentTypeParser("application/json", options, async ({ ip }: FastifyRequest, bytes: Buffer) => {
    const parse = () => read(decode(bytes));
    return bytes.length < largeBody ? parse() : pace.run(ip, parse);
  });
  server.addContentTypeParser("*", options, async (_: unknown, bytes: Buffer) => {
    if (bytes.length > 0) throw new HttpFailure(415);
    return undefined;
  });
}

/** Receives a body in very many tiny pieces slowly. */
function slowTinyPieces(): Transform {
  const pace = createPiecePace();
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      const pause = pace(piece.length);
      if (pause === null) done(null, piece);
      else pause.then(() => done(null, piece));
    },
  });
}

function isWithoutBody(headers: IncomingHttpHeaders): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Refuses invalid UTF-8: replacement characters would change the user's text. */
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
