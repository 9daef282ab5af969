import { once } from "node:events";
import type { Server } from "node:http";
import { onTestFinished } from "vitest";

/** The address of a server that listens on loopback until the test has ended. */
export async function listening(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return `http://127.0.0.1:${address.port}`;
}
