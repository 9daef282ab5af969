import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCommand } from "./command.ts";
import { runJob } from "./job.ts";
import type { LeaveName } from "./testing/leaveName.ts";

const options = { deadlineSeconds: 60 };
const leaveName = new URL("./testing/leaveName.ts", import.meta.url);

const parentOf = (pid: number) => Number(execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }));

/** Starts a job that lasts until `end`. Resolves when it runs. */
async function startLasting() {
  const folder = await mkdtemp(path.join(tmpdir(), "job-"));
  const afterFolder = await mkdtemp(path.join(tmpdir(), "job-after-"));
  for (const each of [folder, afterFolder]) onTestFinished(() => rm(each, { recursive: true, force: true }));
  const after = path.join(afterFolder, "now");
  const result = runJob(leaveName, { folder, comesTo: "done", after } satisfies LeaveName, options);
  result.catch(() => undefined);
  await expect.poll(() => readdir(folder), { timeout: 10_000 }).toHaveLength(1);
  const [pid] = await readdir(folder);
  return { result, pid: Number(pid), end: () => writeFile(after, "") };
}

test("jobs and commands are started by another process, so that this one is not blocked meanwhile", async () => {
  const { pid, result, end } = await startLasting();
  const starter = parentOf(pid);
  await end();
  expect(await result).toBe("done");
  expect(starter).not.toBe(process.pid);
  expect(await runCommand("sh", ["-c", "echo $PPID"])).toBe(`${starter}\n`);
});

test("if the process that starts others is killed, running jobs fail, and later ones run", async () => {
  const { pid, result } = await startLasting();
  process.kill(parentOf(pid), "SIGKILL");
  await expect(result).rejects.toThrow("The process that starts others has ended.");
  const next = await startLasting();
  await next.end();
  expect(await next.result).toBe("done");
});

test("a job that ends without a result fails", async () => {
  await expect(runJob(new URL("./nothingThere.ts", import.meta.url), {}, options)).rejects.toThrow("ended with 1.");
});

test("an aborted job is ended", async () => {
  const stop = new AbortController();
  const job = runJob(leaveName, {}, { ...options, signal: stop.signal });
  stop.abort();
  await expect(job).rejects.toThrow("abort");
});
