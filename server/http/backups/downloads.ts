/** Serves downloadable backups: by link, without a key, with resumable downloads. */

import { type FoundDownload, follow, noteDownload } from "@sitewright/server/app/backups/downloadableBackups.ts";
import type { App } from "@sitewright/server/app/context.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { HttpFailure } from "../faults.ts";
import { pathParameters } from "../identity.ts";
import { rangeOf } from "./ranges.ts";

type Headers = Readonly<Record<string, string | number>>;

/** `stopping` is aborted when the server stops; clients can resume the download later. */
export function serveDownloads(server: FastifyInstance, app: App, stopping: AbortSignal): void {
  server.route({
    method: ["GET", "HEAD"],
    url: "/v2/downloads/:token/:name",
    handler: async (request, reply) => {
      const { token = "", name = "" } = pathParameters(request);
      const found = await follow(app, { token, name });
      try {
        const sent = await send(request, reply, found, stopping);
        if (request.method === "GET") noteDownload(app, found, request.ip);
        return sent;
      } catch (error) {
        await found.handle.close();
        throw error;
      }
    },
  });
}

function headersOf({ id, fileName, createdAt }: FoundDownload): Headers {
  return {
    "content-type": "application/zip",
    "content-disposition": `attachment; filename="${fileName}"`,
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
    "referrer-policy": "no-referrer",
    "accept-ranges": "bytes",
    "last-modified": createdAt.toUTCString(),
    etag: etagOf(id),
  };
}

/** The id is enough, because a zip never changes. */
function etagOf(id: string): string {
  return `"${id}"`;
}

async function send(request: FastifyRequest, reply: FastifyReply, found: FoundDownload, stopping: AbortSignal) {
  const { bytes, handle, id } = found;
  const condition = request.headers["if-range"];
  const isUnchanged = condition === undefined || condition === etagOf(id);
  const part = isUnchanged ? rangeOf(request.headers.range, bytes) : null;
  if (part === "unsatisfiable") throw new HttpFailure(416, { "content-range": `bytes */${bytes}` });
  const { start, end } = part ?? { start: 0, end: bytes - 1 };
  const range = part === null ? {} : { "content-range": `bytes ${start}-${end}/${bytes}` };
  reply.code(part === null ? 200 : 206).headers({ ...headersOf(found), ...range, "content-length": end - start + 1 });
  if (request.method === "HEAD") {
    await handle.close();
    return reply.send();
  }
  return reply.send(handle.createReadStream({ start, end, signal: stopping }));
}
