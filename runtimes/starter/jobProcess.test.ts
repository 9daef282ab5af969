import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { LeaveName } from "../testing/leaveName.ts";
import { startJob } from "./jobProcess.ts";

const module = fileURLToPath(new URL("../testing/leaveName.ts", import.meta.url));

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "job-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Starts a job that returns its name once it is allowed to. `letEnd` allows it and blocks this process until the job's
 * process has ended.
 */
async function startNamed(name: string) {
  const folder = await freshFolder();
  const [names, after] = [path.join(folder, "names"), path.join(folder, "after")];
  await mkdir(names);
  const job = { folder: names, comesTo: name, after } satisfies LeaveName;
  const node = { execPath: process.execPath, execArgv: [], user: null, groups: null };
  const { outcome } = startJob({ ...node, module, job, deadlineSeconds: 60, priority: null, tenant: null });
  await expect.poll(() => readdir(names), { timeout: 10_000 }).toHaveLength(1);
  const [pid = ""] = await readdir(names);
  const letEnd = () => {
    writeFileSync(after, "");
    while (!execFileSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" }).startsWith("Z"));
  };
  return { outcome, letEnd };
}

test("the result of a job is received even if another job ends at the same time", async () => {
  const [one, other] = [await startNamed("one"), await startNamed("other")];
  const both = Promise.all([one.outcome.then(other.letEnd), other.outcome]);
  one.letEnd();
  expect((await both)[1]).toEqual({ done: true, result: "other" });
});
