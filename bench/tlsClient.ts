/**
 * `tlsClient.ts <port> <milliseconds> full|resumed`: makes concurrent TLS handshakes and sends their number over IPC.
 */
import { type ConnectionOptions, connect } from "node:tls";

const [port = 0, milliseconds = 0] = process.argv.slice(2, 4).map(Number);
const isResumed = process.argv[4] === "resumed";
const concurrency = 8;
const end = performance.now() + milliseconds;
let handshakes = 0;
let session: Buffer | undefined;

/** Resolves when the connection is closed. */
function handshake(): Promise<void> {
  const options: ConnectionOptions = {
    host: "127.0.0.1",
    port,
    servername: "site.localhost",
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: false,
    ...(session !== undefined && { session }),
  };
  return new Promise((resolve, reject) => {
    const socket = connect(options, () => {
      handshakes += 1;
      if (isResumed && session === undefined) return;
      socket.destroy();
    });
    // The first handshake waits for the session that later ones resume.
    if (isResumed)
      socket.once("session", (received) => {
        session ??= received;
        socket.destroy();
      });
    socket.on("error", reject).on("close", () => resolve());
  });
}

if (isResumed) await handshake();
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    while (performance.now() < end) await handshake();
  }),
);
process.send?.(handshakes);
process.disconnect?.();
