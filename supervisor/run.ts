/** Runs the installation and ends the process with its exit code. */
import type { Installation } from "./installation.ts";
import { whenNpmEnds } from "./npmParent.ts";
import { makeSignalHandler } from "./signals.ts";
import type { Terminal } from "./terminal.ts";

const interrupted = 130;

/**
 * Runs the installation until a signal arrives, for this process or one of its services, or its `npm start` ends. Then ends the process: 0 after a clean stop, 1
 * if the start failed, 130 if it was interrupted.
 */
export async function runUntilStopped(installation: Installation, terminal: Terminal): Promise<void> {
  let isReady = false;
  let isStopping = false;
  const stop = async () => {
    isStopping = true;
    terminal.say("Stopping …");
    await installation.stop();
    terminal.say("Stopped.");
    process.exit(isReady ? 0 : interrupted);
  };
  const onSignal = makeSignalHandler({
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
  whenNpmEnds(onSignal);
  void installation.toldToEnd.then((name) => {
    if (isStopping) return;
    terminal.say(`${name} was asked to stop.`);
    onSignal();
  });
  // A closed terminal must not end this process before its children.
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
