/**
 * The DNS server's admin API, on a Unix socket in a folder that only this installation's user can enter.
 *
 * - `PUT /table`: puts a complete table in force (in the format of `tableText.ts`) and returns `{ generation }`. An
 *   older table changes nothing; the response has the newer generation.
 * - `GET /status`: what the server is serving.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { RateLimit } from "./rateLimit.ts";
import type { DnsLog, Served } from "./served.ts";
import { BadTable } from "./tableShape.ts";
import { readTable } from "./tableText.ts";

interface DnsStatus {
  readonly generation: number;
  readonly zones: number;
  /** The UDP and TCP port for queries. */
  readonly port: number;
  /** Responses that the rate limit dropped or truncated. */
  readonly limited: number;
}

interface AdminParts {
  readonly served: Served;
  readonly rateLimit: RateLimit;
  readonly log: DnsLog;
  /** Called for each status request. */
  readonly port: () => number;
}

/** Creates the server, not listening yet. */
export function createAdminServer(parts: AdminParts): Server {
  return createServer((request, response) => {
    answer(parts, request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof BadTable || error instanceof SyntaxError) return reply(response, 400, { message });
      parts.log.error({ err: error, url: request.url }, "admin request failed");
      reply(response, 500, { message });
    });
  });
}

async function answer(parts: AdminParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const endpoint = `${request.method} ${request.url}`;
  if (endpoint === "PUT /table") return putTable(parts, request, response);
  if (endpoint === "GET /status") return reply(response, 200, status(parts));
  reply(response, 404, { message: "Endpoints: PUT /table, GET /status" });
}

async function putTable(
  { served, log }: AdminParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const table = readTable(await buffer(request));
  const generation = served.set(table);
  log.info({ generation, zones: table.zones.length }, "zones updated");
  reply(response, 200, { generation });
}

function status({ served, rateLimit, port }: AdminParts): DnsStatus {
  const { generation, zones } = served.state;
  return { generation, zones: zones.size, port: port(), limited: rateLimit.limited };
}

function reply(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}
