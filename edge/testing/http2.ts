/** HTTP/2 clients for tests. */
import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { buffer } from "node:stream/consumers";
import { connect as connectBare, type TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";

interface Got2 {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly body: string;
}

/** Opens a connection to the edge that closes at the end of the test. */
export function visit(port: number, ca: string, servername = "site.localhost"): ClientHttp2Session {
  const session = connect(`https://${servername}`, { host: "127.0.0.1", port, ca, servername });
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

/** Sends a request. Rejects if the response is cut off. */
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

const frames = { data: 0, headers: 1, reset: 3, settings: 4 } as const;
const endOfHeaders = 4;
const cancel = 8;

/** Builds a frame (RFC 9113, section 4.1), for sequences that Node's client never sends. */
function frame(type: keyof typeof frames, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(frames[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Opens a TLS connection without sending anything. */
export async function openBare(port: number, ca: string): Promise<TLSSocket> {
  const socket = connectBare({ host: "127.0.0.1", port, ca, servername: "site.localhost", ALPNProtocols: ["h2"] });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}

/** The preface of an HTTP/2 connection. */
export function hello(): Buffer {
  return Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame("settings", 0, 0, Buffer.alloc(0))]);
}

/** A POST to `/` of `site.localhost` with an incomplete body. */
export function halfAnUpload(stream: number): Buffer {
  const host = Buffer.from("site.localhost");
  // From HPACK's static table: POST, https, `/`, and the name `:authority`.
  const head = Buffer.concat([Buffer.from([0x83, 0x87, 0x84, 0x01, host.length]), host]);
  return Buffer.concat([frame("headers", endOfHeaders, stream, head), frame("data", 0, stream, Buffer.from("half"))]);
}

/** Cancels a request. */
export function reset(stream: number): Buffer {
  return frame("reset", 0, stream, Buffer.from([0, 0, 0, cancel]));
}
