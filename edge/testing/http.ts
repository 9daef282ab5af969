/** HTTP clients for tests: Node's client for well-formed requests, a plain socket for all others. */
import { type IncomingHttpHeaders, type RequestOptions, request } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Edge } from "../edge.ts";
import type { EdgeTable } from "../tables/table.ts";

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly body: string;
}

export interface Sending {
  readonly host?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  readonly socketPath?: string;
  /** Sends it as PHP of an environment on this socket. */
  readonly php?: string;
  /** Id of that environment. Absent: the site's own, `one`. */
  readonly phpOf?: string;
}

/** Sends a request, by default to `site.localhost`. The path is sent without changes. */
export function ask(edge: Pick<Edge, "port">, path: string, sending: Sending = {}): Promise<Got> {
  const { host = "site.localhost", method = "GET", headers = {}, body, socketPath, php, phpOf = "one" } = sending;
  const to: RequestOptions =
    php !== undefined
      ? { createConnection: () => connectAsPhp(php, phpOf) }
      : socketPath !== undefined
        ? { socketPath, agent: false }
        : { host: "127.0.0.1", port: edge.port, agent: false };
  return new Promise((resolve, reject) => {
    const sent = request({ ...to, path, method, headers: { ...headers, host } }, async (response) => {
      try {
        const bytes = await buffer(response);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, body: bytes.toString() });
      } catch (error) {
        reject(error);
      }
    });
    sent.on("error", reject).end(body);
  });
}

/** Connects as PHP of an environment. The credential is the environment's id. */
function connectAsPhp(php: string, id: string): Socket {
  const socket = connect(php);
  socket.write(`${id}\n`);
  return socket;
}

/** PUTs a table to the edge's admin socket. */
export async function putTable(
  edge: Pick<Edge, "port"> & { readonly adminSocket: string },
  table: EdgeTable | string,
): Promise<{ status: number; body: unknown }> {
  const body = typeof table === "string" ? table : JSON.stringify(table);
  const got = await ask(edge, "/table", { socketPath: edge.adminSocket, method: "PUT", body });
  return { status: got.status, body: JSON.parse(got.body) };
}

/** Waits until all writes to a frozen environment have ended. */
export async function settle(
  edge: Pick<Edge, "port"> & { readonly adminSocket: string },
  environmentId: string,
): Promise<{ status: number }> {
  const body = JSON.stringify({ environmentId });
  return ask(edge, "/settle", { socketPath: edge.adminSocket, method: "POST", body });
}

/** Sends bytes on a new connection and resolves with everything received until the edge closes it. */
export async function sendRaw(edge: Pick<Edge, "port">, text: string | Buffer): Promise<string> {
  const socket = connect(edge.port, "127.0.0.1");
  socket.write(text);
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  });
}

/** Opens a connection that collects everything it receives. */
export function openRaw(edge: Pick<Edge, "port">): { readonly socket: Socket; received(): string } {
  const socket = connect(edge.port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => undefined);
  return { socket, received: () => text };
}

export function statusOf(raw: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(raw)?.[1] ?? 0);
}
