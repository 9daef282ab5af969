/**
 * Starts and stops the DNS server: a UDP and TCP port for queries, and the admin socket.
 *
 * The server starts from the table in its file and can answer from it without the control process.
 */
import type { Server } from "node:net";
import { createAdminServer } from "./admin.ts";
import type { OpenSecret } from "./keys.ts";
import { createNotifier, type Notifier } from "./notify.ts";
import { createRateLimit } from "./rateLimit.ts";
import { createResponder } from "./respond.ts";
import { createServed, type DnsLog } from "./served.ts";
import { type InheritedPort, listenForOwner, listenOnBoth } from "./sockets.ts";
import { loadTableFile } from "./tableFile.ts";
import { createTcpServer, type TcpLimits } from "./tcp.ts";
import { answerUdp } from "./udp.ts";

export interface DnsOptions {
  /** An IP address. UDP responses are sent from it. */
  readonly host: string;
  /** 0: any port that is free for UDP and TCP. */
  readonly port: number;
  /** Sockets of the port that the process has inherited. Absent: it opens them. */
  readonly inherited?: InheritedPort;
  /** Its folder is created; only this user may enter it. Socket paths must be short. */
  readonly adminSocket: string;
  readonly tableFile: string;
  /** Decrypts secondaries' keys. */
  readonly openSecret: OpenSecret;
  /** Limit for equal UDP responses to one network; 0: no limit. */
  readonly answersPerSecond: number;
  readonly tcp: TcpLimits;
  readonly log: DnsLog;
}

export interface Dns {
  readonly port: number;
  /** Stops the server. When it resolves, no query is answered any more. */
  close(): Promise<void>;
}

/** Rejects with the system's error (such as `EADDRINUSE` or `EACCES`) if the port can't be opened. */
export async function startDns(options: DnsOptions): Promise<Dns> {
  const { log, host } = options;
  const notifier: Notifier = createNotifier({ state: () => served.state, log });
  const served = createServed(options.openSecret, log, notifier.changed);
  const rateLimit = createRateLimit(options.answersPerSecond);
  const responder = createResponder(served, rateLimit);
  const tcp = createTcpServer(responder, options.tcp, log);

  served.set(
    await loadTableFile(options.tableFile, (err) =>
      log.error({ err, file: options.tableFile }, "table file is broken"),
    ),
  );
  const udp = await listenOnBoth(tcp.server, host, options.port, options.inherited).catch((error: unknown) => {
    notifier.close();
    throw error;
  });
  answerUdp(udp, responder, log);
  const { port } = udp.address();
  const admin = createAdminServer({ served, rateLimit, log, port: () => port });

  let closing: Promise<void> | null = null;
  async function closeAll(): Promise<void> {
    notifier.close();
    udp.close();
    tcp.closeAll();
    admin.closeAllConnections();
    await Promise.all([closed(tcp.server), closed(admin)]);
  }

  const close = (): Promise<void> => {
    closing ??= closeAll();
    return closing;
  };

  try {
    await listenForOwner(admin, options.adminSocket);
  } catch (error) {
    await close();
    throw error;
  }
  return { port, close };
}

/** Also works for a server that never listened. */
function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
