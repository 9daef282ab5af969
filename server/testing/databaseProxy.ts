/** Stands between a test and PostgreSQL, and behaves like a server that hangs, is lost, and comes back. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What happens to the next message of a client. */
type Fault =
  /** The connection is closed before PostgreSQL gets the message. */
  | "lose"
  /** PostgreSQL carries the message out, but the connection is closed instead of the answer. */
  | "lose the answer"
  /** The same, and then it hangs. */
  | "lose the answer and hang"
  /** From this message on, nobody gets anything until `resume`. */
  | "hang";

/** Receives the text of messages, one after another. */
type ChooseMessage = (message: string) => boolean;

/** Chooses the message after this number of others. */
export function after(messages: number): ChooseMessage {
  let left = messages;
  return () => left-- === 0;
}

export const isCommit: ChooseMessage = (message) => message.includes("commit\0");

export interface DatabaseProxy extends AsyncDisposable {
  readonly url: string;
  /** The fault happens to the first message that is chosen. Resolves when it happens. */
  failAt(isChosen: ChooseMessage, fault: Fault): Promise<void>;
  /** Whether the fault has happened. */
  hasFailed(): boolean;
  /** Number of connections that PostgreSQL has not closed. */
  connections(): number;
  /** Number of connections that clients have opened so far. */
  opened(): number;
  /** Delivers the messages that were held, and from then on all messages at once. */
  resume(): void;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  readonly held: (() => void)[];
  losesAnswer: Fault | null;
}

const socketName = ".s.PGSQL.5432";

/** `url`: that of the database, with the folder of its socket. */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const folder = await mkdtemp(join(tmpdir(), "sw-proxy-"));
  const own = new URL(url);
  const target = join(own.searchParams.get("host") ?? "", socketName);
  own.searchParams.set("host", folder);
  const links = new Set<Link>();
  let planned: { readonly isChosen: ChooseMessage; readonly fault: Fault; readonly failed: () => void } | null = null;
  let isHanging = false;
  let hasFailed = false;
  let opened = 0;

  function deliver({ held }: Link, send: () => void): void {
    if (isHanging) held.push(send);
    else send();
  }

  function take(message: Buffer): Fault | null {
    if (!planned?.isChosen(message.toString("latin1"))) return null;
    const { fault, failed } = planned;
    planned = null;
    hasFailed = true;
    failed();
    return fault;
  }

  function receive(link: Link, chunk: Buffer): void {
    const fault = take(chunk);
    if (fault === "lose") return void link.client.destroy();
    if (fault === "lose the answer" || fault === "lose the answer and hang") link.losesAnswer = fault;
    if (fault === "hang") isHanging = true;
    deliver(link, () => link.server.write(chunk));
  }

  const listener = createServer((client) => {
    const server = connect(target);
    const link: Link = { client, server, held: [], losesAnswer: null };
    links.add(link);
    opened += 1;
    client.on("data", (chunk) => receive(link, chunk));
    server.on("data", (chunk) => {
      if (link.losesAnswer === null) return deliver(link, () => client.write(chunk));
      client.destroy();
      if (link.losesAnswer === "lose the answer and hang") isHanging = true;
    });
    for (const socket of [client, server]) socket.on("error", () => undefined);
    // As over a network, PostgreSQL gets the held messages before the end of the connection, and executes them before it closes.
    client.on("close", () => deliver(link, () => server.end()));
    server.on("close", () => {
      deliver(link, () => {
        links.delete(link);
        client.destroySoon();
      });
    });
  });
  await once(listener.listen(join(folder, socketName)), "listening");

  const resume = () => {
    isHanging = false;
    planned = null;
    for (const { held } of links) for (const send of held.splice(0)) send();
  };
  return {
    url: own.href,
    failAt(isChosen, fault) {
      hasFailed = false;
      return new Promise((failed) => {
        planned = { isChosen, fault, failed };
      });
    },
    hasFailed: () => hasFailed,
    connections: () => links.size,
    opened: () => opened,
    resume,
    [Symbol.asyncDispose]: async () => {
      resume();
      for (const { client, server } of links) for (const socket of [client, server]) socket.destroy();
      listener.close();
      await rm(folder, { recursive: true });
    },
  };
}
