/**
 * The DNS server put together: a port on which it is asked by UDP and TCP, and a socket on which it is told.
 *
 * It starts from the table in its file and needs nobody to go on answering from it.
 */
import type { Server } from "node:net";
import { createAdminServer } from "./admin.ts";
import type { OpenSecret } from "./keys.ts";
import { createNotifier, type Notifier } from "./notify.ts";
import { createRateLimit } from "./rateLimit.ts";
import { createResponder } from "./respond.ts";
import { createServed, type DnsLog } from "./served.ts";
import { listenForOwner, listenOnBoth } from "./sockets.ts";
import { loadTableFile } from "./tableFile.ts";
import { createTcpServer, type TcpLimits } from "./tcp.ts";
import { answerUdp } from "./udp.ts";

export interface DnsOptions {
  /** An address; packets by UDP are answered from it. */
  readonly host: string;
  /** 0: any that is free by UDP and TCP. */
  readonly port: number;
  /** Paths of sockets must be short. Its folder is made; only this user may enter it. */
  readonly adminSocket: string;
  readonly tableFile: string;
  /** Opens what the table has sealed of secondaries' keys. */
  readonly openSecret: OpenSecret;
  /** The same answer by UDP to one network; 0: any number. */
  readonly answersPerSecond: number;
  readonly tcp: TcpLimits;
  readonly log: DnsLog;
}

export interface Dns {
  readonly port: number;
  /** Stops; when it resolves, no query is answered any more. */
  close(): Promise<void>;
}

/** Rejects with the error of the system (`EADDRINUSE`, `EACCES`) where the port can't be had. */
export async function startDns(options: DnsOptions): Promise<Dns> {
  const { log, host } = options;
  const notifier: Notifier = createNotifier({ state: () => served.state, log });
  const served = createServed(options.openSecret, log, notifier.changed);
  const rateLimit = createRateLimit(options.answersPerSecond);
  const responder = createResponder(served, rateLimit);
  const tcp = createTcpServer(responder, options.tcp, log);

  served.set(
    await loadTableFile(options.tableFile, (err) => log.error({ err, file: options.tableFile }, "broken table file")),
  );
  const udp = await listenOnBoth(tcp.server, host, options.port).catch((error: unknown) => {
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
    tcp.endAll();
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

/** Also of a server that never listened. */
function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
