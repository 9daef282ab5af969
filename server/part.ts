/** A process that the supervisor started: says when it is ready, and ends when it is told to or left alone. */
import type { Logger } from "pino";

export interface RunningPart {
  /** Resolves when the process can't go on. */
  readonly lost?: Promise<Error>;
  stop(): Promise<void>;
}

/**
 * Runs `start`, tells the supervisor `{ type: "ready" }`, and stops on SIGTERM, on SIGINT and when the IPC channel
 * closes, which is how it learns that the supervisor was killed. Ends the process: 0 after a clean stop, 1 where
 * the start failed or the part was lost.
 */
export async function runPart(log: Logger, start: () => Promise<RunningPart>): Promise<void> {
  const asked = Promise.withResolvers<"asked">();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => asked.resolve("asked"));
  process.on("disconnect", () => asked.resolve("asked"));
  try {
    const part = await start();
    process.send?.({ type: "ready" });
    const end = await Promise.race([asked.promise, part.lost ?? asked.promise]);
    if (end !== "asked") {
      log.error({ err: end }, "This process can't go on; another one takes over");
      process.exit(1);
    }
    await part.stop();
    process.exit(0);
  } catch (err) {
    log.fatal({ err }, "This process failed");
    process.exit(1);
  }
}
