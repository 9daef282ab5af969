/** A real mail server of a test's own, which takes or refuses what the test wants. */
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

/** The error that makes the server answer with this code and these words. */
export function answerOf(code: number, words: string): Error {
  return Object.assign(new Error(words), { responseCode: code });
}

/** Listens on a free port of loopback. `verdict` is asked about each message: what it gives is what the server says. */
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
        const one: Received = {
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          message: content.toString(),
          isSecure: session.secure,
          user: session.user,
        };
        const refusal = verdict(one);
        if (refusal === null) received.push(one);
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

/** A server that answers with these lines, one for each that it gets, and then does what `end` does with the connection. */
export async function startScriptedServer(
  lines: readonly string[],
  end: (socket: Socket) => void,
): Promise<AsyncDisposable & { readonly port: number; connections(): number }> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    const left = [...lines];
    const say = () => {
      const line = left.shift();
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
