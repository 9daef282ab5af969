/** `stop`: stops the running installation and waits until it has ended. */
import { setTimeout as delay } from "node:timers/promises";
import { AlreadyRunning, lockData } from "@sitewright/supervisor/dataLock.ts";
import type { Run } from "./command.ts";
import { exitFailed, Failure } from "./failure.ts";

const deadlineMilliseconds = 90_000;
const pollMilliseconds = 100;

export const stop: Run = async (_, { config: { data } }) => {
  const holder = holderOf(data);
  if (holder === null) return `Sitewright is not running on ${data}.`;
  process.kill(holder, "SIGTERM");
  for (const start = Date.now(); Date.now() < start + deadlineMilliseconds; await delay(pollMilliseconds)) {
    if (holderOf(data) === null) return `Stopped the installation in ${data}.`;
  }
  throw new Failure(`Process ${holder} has not ended within ${deadlineMilliseconds / 1_000} seconds.`, exitFailed);
};

/** The process id of the supervisor, or null if none is running. */
function holderOf(data: string): number | null {
  try {
    lockData(data).release();
    return null;
  } catch (error) {
    if (error instanceof AlreadyRunning) return error.holder;
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
