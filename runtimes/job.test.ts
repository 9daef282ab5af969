import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runJob } from "./job.ts";
import type { LeaveName } from "./testing/leaveName.ts";

const options = { deadlineSeconds: 60 };
const leaveName = new URL("./testing/leaveName.ts", import.meta.url);

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "job-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Starts a job that returns its name once it is allowed to. `letEnd` allows it and blocks this process until the job's
 * process has ended.
 */
async function startJob(name: string) {
  const folder = await freshFolder();
  const [names, after] = [path.join(folder, "names"), path.join(folder, "after")];
  await mkdir(names);
  const result = runJob(leaveName, { folder: names, comesTo: name, after } satisfies LeaveName, options);
  result.catch(() => undefined);
  await expect.poll(() => readdir(names), { timeout: 10_000 }).toHaveLength(1);
  const [pid = ""] = await readdir(names);
  const letEnd = () => {
    writeFileSync(after, "");
    while (!execFileSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" }).startsWith("Z"));
  };
  return { result, letEnd };
}

test("the result of a job is received even if another job ends at the same time", async () => {
  const [one, other] = [await startJob("one"), await startJob("other")];
  const both = Promise.allSettled([one.result.then(other.letEnd), other.result]);
  one.letEnd();
  expect((await both)[1]).toEqual({ status: "fulfilled", value: "other" });
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
