/** Connects to the control process, also while that is being started again. */
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

interface Patience {
  readonly milliseconds: number;
  /** Ends the wait when the client has left. */
  readonly signal: AbortSignal;
}

const intervalMs = 100;

/** Resolves to a connection as soon as somebody listens on the socket, or to null if nobody does for so long. */
export async function connectPatiently(socket: string, { milliseconds, signal }: Patience): Promise<Socket | null> {
  const deadline = performance.now() + milliseconds;
  while (!signal.aborted) {
    const connection = await tryToConnect(socket);
    if (connection !== null) return connection;
    if (performance.now() >= deadline) return null;
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
  return null;
}

/** Nothing has been sent when it fails, so it can be tried again. */
function tryToConnect(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const connection = connect({ path });
    const failed = () => resolve(null);
    connection.once("error", failed).once("connect", () => {
      connection.off("error", failed);
      resolve(connection);
    });
  });
}
