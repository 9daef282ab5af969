/**
 * Accepts connections of PHP that runs as a program of this machine, on ports next to those for visitors. The runtime makes the
 * system lead such connections there, each to an address that only one environment's PHP reaches: it says whose PHP it is, and
 * nothing has to be sent for that. So TLS works as it does for visitors.
 */
import type { Server } from "node:net";
import type { TlsOptions } from "node:tls";
import { closeServer } from "./http/listeners.ts";
import { createOpenCounts } from "./http/openCounts.ts";
import { listen } from "./http/sockets.ts";
import type { VisitorSocket } from "./http/visitorHttp.ts";
import type { EdgeParts } from "./parts.ts";
import type { EdgeHost } from "./tables/table.ts";
import type { PhpCaller } from "./visit/sender.ts";
import { createSecureVisitorServer, createVisitorServer } from "./visitors.ts";

export interface PhpPortsOptions {
  /** Returns the environment whose PHP alone can connect to this address of the machine, or null. */
  readonly callerAt: (localAddress: string) => PhpCaller | null;
  /** Called with all names of all environments when a table comes into force. */
  readonly onHosts: (hosts: readonly EdgeHost[]) => void;
}

/** A port for visitors, and the one for PHP that connects to it. */
export interface PhpPort {
  readonly port: number;
  readonly phpPort: number;
}

export interface PhpPorts {
  /** Resolves with the ports when both listen. Rejects with the error of `listen`. */
  listen(visitors: { readonly port: number; readonly tlsPort: number | null }): Promise<readonly PhpPort[]>;
  /** Stops accepting connections and resolves when the last one has closed. Running requests get the grace period. */
  close(graceMilliseconds: number): Promise<void>;
}

/** The system leads to any address of the loopback network, so the edge listens on all; other connections are closed. */
const anyAddress = "0.0.0.0";

/** `tls`: null without TLS. `maxConnections`: open ones of one environment, for HTTP and HTTPS together. */
export function createPhpPorts(
  parts: EdgeParts,
  { callerAt }: Pick<PhpPortsOptions, "callerAt">,
  tls: TlsOptions | null,
  maxConnections: number,
): PhpPorts {
  const callerOf = ({ localAddress }: VisitorSocket) => (localAddress === undefined ? null : callerAt(localAddress));
  const count = () =>
    createOpenCounts(maxConnections, (environmentId) =>
      parts.log.warn(
        { environmentId, max: maxConnections },
        "Connections of PHP are refused: its environment has too many",
      ),
    );
  const [connections, requests] = [count(), count()];
  const plain = createVisitorServer(parts, callerOf);
  plain.on("connection", (socket) => {
    const caller = callerOf(socket);
    if (caller === null || !connections.add(caller.id, socket)) socket.destroy();
  });
  const secure = tls === null ? null : createSecureVisitorServer(parts, tls, { connections, requests }, callerOf);
  return {
    async listen({ port, tlsPort }) {
      const ports = [{ port, phpPort: await listenAnywhere(plain) }];
      if (secure === null || tlsPort === null) return ports;
      return [...ports, { port: tlsPort, phpPort: await listenAnywhere(secure.listener) }];
    },
    async close(graceMilliseconds) {
      await Promise.all([closeServer(plain, graceMilliseconds), secure?.close(graceMilliseconds)]);
    },
  };
}

async function listenAnywhere(server: Server): Promise<number> {
  await listen(server, { host: anyAddress, port: 0 });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
