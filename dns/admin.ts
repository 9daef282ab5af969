/**
 * How the DNS server is told and asked, on a socket in a folder that only this installation's user can enter.
 *
 * `PUT /table` with a whole table, as `tableText.ts` writes it, answers `{ generation }` once it is in force; an older one changes nothing and is answered
 * with the newer number. `GET /status` tells what is being served.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { RateLimit } from "./rateLimit.ts";

import type { DnsLog, Served } from "./served.ts";
import { BadTable } from "./tableShape.ts";
import { readTable } from "./tableText.ts";

export interface DnsStatus {
  readonly generation: number;
  readonly zones: number;
  /** Where questions are answered, by UDP and TCP. */
  readonly port: number;
  /** Answers that were left out or shortened because there were too many of one kind. */
  readonly limited: number;
}

export interface AdminParts {
  readonly served: Served;
  readonly rateLimit: RateLimit;
  readonly log: DnsLog;
  /** Asked at each status. */
  readonly port: () => number;
}

/** Not listening yet. */
export function createAdminServer(parts: AdminParts): Server {
  return createServer((request, response) => {
    answer(parts, request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof BadTable || error instanceof SyntaxError) return reply(response, 400, { message });
      parts.log.error({ err: error, url: request.url }, "The DNS server could not do what it was told");
      reply(response, 500, { message });
    });
  });
}

async function answer(parts: AdminParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = `${request.method} ${request.url}`;
  if (asked === "PUT /table") return takeTable(parts, request, response);
  if (asked === "GET /status") return reply(response, 200, status(parts));
  reply(response, 404, { message: "The DNS server knows PUT /table and GET /status" });
}

async function takeTable(
  { served, log }: AdminParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const table = readTable(await buffer(request));
  const generation = served.set(table);
  log.info({ generation, zones: table.zones.length }, "table in force");
  reply(response, 200, { generation });
}

function status({ served, rateLimit, port }: AdminParts): DnsStatus {
  const { generation, zones } = served.state;
  return { generation, zones: zones.size, port: port(), limited: rateLimit.limited };
}

function reply(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}
