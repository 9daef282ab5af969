/** Requests that are not even HTTP: the socket is answered directly, in the same shape of error. */
import type { Socket } from "node:net";
import { errorAnswer } from "./faults.ts";

interface ConnectionError extends Error {
  readonly code?: string;
}

const reasons: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "The request's headers are too large",
  ERR_HTTP_REQUEST_TIMEOUT: "The request took too long to arrive",
};

/** Node's `clientError`: there is no request yet, and so no route, key or rate limit. */
export function answerBrokenRequest(error: ConnectionError, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const message = reasons[error.code ?? ""] ?? "could not be read as an HTTP request";
  const body = JSON.stringify(errorAnswer(400, { errors: [{ path: "", message }] }).body);
  const head = [
    "HTTP/1.1 400 Bad Request",
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
