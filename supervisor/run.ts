/** From the start of an installation to the exit code. */
import type { Installation } from "./installation.ts";
import { countSignals } from "./signals.ts";
import type { Terminal } from "./terminal.ts";

const interrupted = 130;

/**
 * Runs the installation until a signal, or until the process that stood in for npm goes. Ends the process: 0 after
 * an orderly stop, 1 where the start failed, 130 where it was broken off.
 */
export async function runUntilStopped(installation: Installation, terminal: Terminal): Promise<void> {
  let isReady = false;
  let isStopping = false;
  const stop = async () => {
    isStopping = true;
    terminal.say("Stopping …");
    await installation.stop();
    process.exit(isReady ? 0 : interrupted);
  };
  const onSignal = countSignals({
    first: () => void stop(),
    again: () => {
      installation.kill();
      process.exit(interrupted);
    },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, onSignal);
  }
  process.once("disconnect", onSignal);
  // A terminal that was closed must not end us before the parts have ended.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => undefined);
  }
  try {
    await installation.start();
    isReady = true;
  } catch (error) {
    if (isStopping) {
      return;
    }
    terminal.warn(`\nSitewright could not start.\n${error instanceof Error ? error.message : String(error)}`);
    await installation.stop();
    process.exit(1);
  }
}
