/** A real mail server for tests that accepts or rejects messages as the test decides. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly message: string;
  readonly isSecure: boolean;
  readonly user: unknown;
}

export interface MailServer extends AsyncDisposable {
  readonly port: number;
  readonly received: Received[];
}

/** An error that makes the server respond with this code and text. */
export function answerOf(code: number, words: string): Error {
  return Object.assign(new Error(words), { responseCode: code });
}

/** Listens on a free loopback port. `verdict` decides the response to each message; null accepts it. */
export async function startMailServer(
  options: SMTPServerOptions = {},
  verdict: (received: Received) => Error | null = () => null,
): Promise<MailServer> {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    hideSTARTTLS: true,
    logger: false,
    onData: (stream, session, callback) => {
      void buffer(stream).then((content) => {
        const { mailFrom, rcptTo } = session.envelope;
        const message: Received = {
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          message: content.toString(),
          isSecure: session.secure,
          user: session.user,
        };
        const refusal = verdict(message);
        if (refusal === null) received.push(message);
        callback(refusal);
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  const listener = server.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { port: (listener.address() as AddressInfo).port, received, [Symbol.asyncDispose]: close };
}

/** A server that answers each message with the next of `lines`, and then calls `end` with the connection. */
export async function startScriptedServer(
  lines: readonly string[],
  end: (socket: Socket) => void,
): Promise<AsyncDisposable & { readonly port: number; connections(): number }> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    const remaining = [...lines];
    const say = () => {
      const line = remaining.shift();
      if (line === undefined) end(socket);
      else socket.write(`${line}\r\n`);
    };
    socket.on("data", say).on("error", () => undefined);
    say();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
