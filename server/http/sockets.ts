/** Answers invalid HTTP requests in the API's error format, instead of with Node's empty responses. */
import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { clientNetwork } from "@sitewright/server/app/traffic/networks.ts";
import type { FastifyInstance } from "fastify";
import { type ErrorAnswer, errorAnswer } from "./faults.ts";
import type { CountRequest } from "./rateLimits.ts";
import { Malformed } from "./reading/malformed.ts";

interface ConnectionError extends Error {
  readonly code?: string;
}

const reasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "The request's headers are too large",
  ERR_HTTP_REQUEST_TIMEOUT: "The request took too long to arrive",
};

/** Makes the listener for Node's `clientError`. There is no request yet, so it is counted by network. */
export function answerBrokenRequests(count: CountRequest) {
  return (error: ConnectionError, socket: Socket): void => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const { headers, isExceeded } = count(undefined, clientNetwork(socket.remoteAddress ?? ""));
    const message = reasons[error.code ?? ""] ?? "could not be read as an HTTP request";
    const answer = isExceeded ? errorAnswer(429) : errorAnswer(400, { errors: [{ path: "", message }] });
    socket.end(asBytes(answer, headers));
    closeSoon(socket);
  };
}

/** How long the client may take to receive the answer. */
const closeMilliseconds = 2_000;

/** Closes the connection even if the client keeps its half open. */
function closeSoon(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), closeMilliseconds);
  socket.once("close", () => clearTimeout(timer));
}

/** Handles two cases that Node would answer without a body. Needs `requireHostHeader: false`. */
export function answerInsteadOfNode(server: FastifyInstance): void {
  server.addHook("onRequest", ({ headers, raw }, _reply, done) => {
    if (headers.host !== undefined || raw.httpVersion !== "1.1") return done();
    done(new Malformed([{ path: "", message: "must have a Host header" }]));
  });
  // HTTP allows servers to ignore unknown expectations.
  server.server.on("checkExpectation", (request, response) => server.server.emit("request", request, response));
}

function asBytes({ status, body }: ErrorAnswer, headers: Readonly<Record<string, string>>): string {
  const text = JSON.stringify(body);
  const all = {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(text)),
    connection: "close",
    "x-request-id": randomUUID(),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head, "", text].join("\r\n");
}
