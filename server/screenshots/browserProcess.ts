/** Runs the browser in a process group of its own, as a user who owns nothing else if we are root. */
import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { asExpendable } from "@sitewright/runtimes/expendable.ts";
import type { BrowserPlace } from "./browserPlace.ts";

/** Longer than the retries for the resources of a page. */
const timeoutMilliseconds = 120_000;
const maxTextLength = 500;

/** Runs the browser until it ends by itself. Returns its output. Rejects if it fails. No process of it is left then. */
export async function runBrowser(
  program: string,
  parameters: readonly string[],
  { folder, user }: BrowserPlace,
  signal: AbortSignal,
): Promise<string> {
  const { file, parameters: all } = asExpendable(program, parameters);
  const child = spawn(file, all, {
    env: { HOME: folder, TMPDIR: folder, PATH: process.env.PATH },
    cwd: folder,
    ...(user !== null && { uid: user, gid: user }),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-maxTextLength);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-maxTextLength);
  });
  const ended = new Promise<string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`Chromium ended with ${code}: ${errors}`)),
    );
  });
  const stop = new AbortController();
  const stopTimer = AbortSignal.any([signal, stop.signal]);
  const timedOut = delay(timeoutMilliseconds, undefined, { signal: stopTimer }).then(() => {
    throw new Error(`Chromium took longer than ${timeoutMilliseconds / 1_000} seconds: ${errors}`);
  });
  try {
    return await Promise.race([ended, timedOut]);
  } finally {
    stop.abort();
    timedOut.catch(() => undefined);
    ended.catch(() => undefined);
    killGroup(child.pid);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
