/** PHP in the test's own process, and an HTTP server that it reaches as if it were the edge. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSocketServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { bootPhp } from "../php/boot.ts";
import type { NetworkRules } from "../php/socket.ts";

const edgePort = 8081;

/** Calls `handle` with the data after the first line, in which PHP's credential is. */
function withoutCredential(socket: Socket, handle: (socket: Socket) => void): void {
  socket.once("data", (data) => {
    socket.unshift(data.subarray(data.indexOf("\n") + 1));
    handle(socket);
  });
}

export interface PhpNetwork {
  /** Host name and port of the server. */
  readonly host: string;
  readonly rules: NetworkRules;
  /** Runs PHP code. Returns its output. */
  run(code: string): Promise<string>;
  close(): Promise<void>;
}

/** Boots PHP. `listener` answers its requests; a function of sockets instead gets each connection. */
export async function openPhpNetwork(
  listener: { readonly http: RequestListener } | { readonly socket: (socket: Socket) => void },
): Promise<PhpNetwork> {
  const folder = await mkdtemp(path.join(tmpdir(), "php-network-"));
  const edgeSocket = path.join(folder, "edge.sock");
  const http = createServer("http" in listener ? listener.http : () => undefined);
  const handle = "socket" in listener ? listener.socket : (socket: Socket) => http.emit("connection", socket);
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    withoutCredential(socket, handle);
  });
  await new Promise<void>((resolve) => server.listen(edgeSocket, resolve));
  const rules: NetworkRules = {
    ...{ edgePort, edgeSocket, siteSuffix: "example.test", credential: "credential", packageSource: null },
    ...{ forbidden: [], internal: [], mayReach: [], isOffline: false, maySendMail: true },
  };
  const php = await bootPhp({ version: "8.3", network: () => rules, opcodes: null });
  return {
    host: `server.example.test:${edgePort}`,
    rules,
    async run(code) {
      const response = await php.runStream({ code: `<?php ${code}` });
      const [output, errors] = await Promise.all([response.stdoutText, response.stderrText]);
      return output + errors;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await rm(folder, { recursive: true });
    },
  };
}
