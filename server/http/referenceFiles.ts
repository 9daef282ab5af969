/** The files that the page at `/docs` loads, under a path that changes with their content. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { HttpFailure } from "./faults.ts";

const explorer = createRequire(import.meta.url).resolve("openapi-explorer/dist/browser/openapi-explorer.min.js");

/** Path and type by name. */
const sources = {
  "openapi-explorer.js": [explorer, "text/javascript; charset=utf-8"],
  "reference.js": [new URL("reference.js", import.meta.url), "text/javascript; charset=utf-8"],
  "reference.css": [new URL("reference.css", import.meta.url), "text/css; charset=utf-8"],
  "reference.svg": [new URL("reference.svg", import.meta.url), "image/svg+xml"],
} as const;

interface File {
  readonly type: string;
  readonly content: Buffer;
  readonly compressed: Buffer;
}

interface ReferenceFiles {
  /** The files' folder in URLs, such as `/reference/0123456789ab`. */
  readonly folder: string;
  readonly byName: ReadonlyMap<string, File>;
}

const headers = {
  "cache-control": "public, max-age=31536000, immutable",
  vary: "accept-encoding",
  "x-content-type-options": "nosniff",
};

/** Serves the files. Returns a function that resolves to their folder. */
export function serveReferenceFiles(server: FastifyInstance): () => Promise<string> {
  // Read for the first visitor: many processes never show the page.
  let reading: Promise<ReferenceFiles> | undefined;
  const files = () => {
    reading ??= readFiles();
    reading.catch(() => {
      reading = undefined;
    });
    return reading;
  };
  server.get<{ Params: { name: string } }>("/reference/:version/:name", async (request, reply) => {
    const { folder, byName } = await files();
    const file = byName.get(request.params.name);
    if (file === undefined || !request.url.startsWith(`${folder}/`)) throw new HttpFailure(404);
    reply.headers({ ...headers, "content-type": file.type });
    if (!/\bgzip\b/.test(request.headers["accept-encoding"] ?? "")) return reply.send(file.content);
    return reply.header("content-encoding", "gzip").send(file.compressed);
  });
  return async () => (await files()).folder;
}

async function readFiles(): Promise<ReferenceFiles> {
  const byName = new Map<string, File>();
  const hash = createHash("sha256");
  for (const [name, [path, type]] of Object.entries(sources)) {
    const content = await readFile(path);
    hash.update(content);
    byName.set(name, { type, content, compressed: await promisify(gzip)(content) });
  }
  return { folder: `/reference/${hash.digest("hex").slice(0, 12)}`, byName };
}
