import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { LeaveName } from "../testing/leaveName.ts";
import { runJob } from "./job.ts";

const options = { deadlineSeconds: 60 };

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "job-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A job that comes to its name as soon as it is let. `letEnd` returns when its process has ended, and hears nothing meanwhile. */
async function startJob(name: string) {
  const folder = await freshFolder();
  const [names, after] = [path.join(folder, "names"), path.join(folder, "after")];
  await mkdir(names);
  const result = runJob(
    "../testing/leaveName.ts",
    { folder: names, comesTo: name, after } satisfies LeaveName,
    options,
  );
  result.catch(() => undefined);
  await expect.poll(() => readdir(names), { timeout: 10_000 }).toHaveLength(1);
  const [pid = ""] = await readdir(names);
  const letEnd = () => {
    writeFileSync(after, "");
    while (!execFileSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" }).startsWith("Z"));
  };
  return { result, letEnd };
}

test("what a job came to is heard, also where it ends while the end of another one is being heard of", async () => {
  const [one, other] = [await startJob("one"), await startJob("other")];
  const both = Promise.allSettled([one.result.then(other.letEnd), other.result]);
  one.letEnd();
  expect((await both)[1]).toEqual({ status: "fulfilled", value: "other" });
});

test("a job that ends before it has said anything is no success", async () => {
  await expect(runJob("../testing/nothing-there.ts", {}, options)).rejects.toThrow("ended with 1.");
});

test("a job that nobody wants any more is ended", async () => {
  const stop = new AbortController();
  const job = runJob("../testing/leaveName.ts", {}, { ...options, signal: stop.signal });
  stop.abort();
  await expect(job).rejects.toThrow("abort");
});
