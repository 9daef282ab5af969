/** Shakes hands with a server on this machine for so many milliseconds, some at a time; says over IPC how often. */
import { type ConnectionOptions, connect } from "node:tls";

const [port = 0, milliseconds = 0] = process.argv.slice(2, 4).map(Number);
const isResumed = process.argv[4] === "resumed";
const atOnce = 8;
const end = performance.now() + milliseconds;
let handshakes = 0;
let session: Buffer | undefined;

/** Resolves when the server has closed, or was told that we do. */
function shakeHands(): Promise<void> {
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
    // The first one waits for what the next ones come back with.
    if (isResumed)
      socket.once("session", (given) => {
        session ??= given;
        socket.destroy();
      });
    socket.on("error", reject).on("close", () => resolve());
  });
}

if (isResumed) await shakeHands();
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    while (performance.now() < end) await shakeHands();
  }),
);
process.send?.(handshakes);
process.disconnect?.();
