/** A visitor who speaks HTTP/2. */
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface Got2 {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly body: string;
}

/** One connection to the edge, which it ends with the test. */
export function visit(port: number, ca: string, servername = "site.localhost"): ClientHttp2Session {
  const session = connect(`https://${servername}`, { host: "127.0.0.1", port, ca, servername });
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

/** Rejects where the answer breaks off. */
export function ask2(
  session: ClientHttp2Session,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body?: string | Buffer,
): Promise<Got2> {
  const stream = session.request(
    { ":authority": "site.localhost", ":path": path, ...headers },
    { endStream: body === undefined },
  );
  if (body !== undefined) stream.end(body);
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    stream.once("error", reject);
    stream.once("response", (head) => {
      isAnswered = true;
      buffer(stream).then((bytes) => {
        resolve({ status: head[":status"] ?? 0, headers: head, bytes, body: bytes.toString() });
      }, reject);
    });
    stream.once("close", () => isAnswered || reject(new Error(`closed with ${stream.rstCode}`)));
  });
}
