import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeTimeCounter, timeOfGroup, timeOfProcess, timesOfMachine, type UsedTime } from "./times.ts";

/** Returns what each company used since the previous reading. */
function counter(first: Readonly<Record<string, readonly UsedTime[]>> = {}) {
  let times = first;
  const count = makeTimeCounter(() => new Map(Object.entries(times)));
  return (next: typeof times) => {
    times = next;
    return Object.fromEntries(count());
  };
}

const time = (of: string, milliseconds: number): UsedTime => ({ of, milliseconds });

test("only time that was used since counts", () => {
  const count = counter({ a: [time("group", 5_000)] });
  expect(count({ a: [time("group", 5_100)], b: [time("other", 20)] })).toEqual({ a: 100, b: 20 });
  expect(count({ a: [time("group", 5_100)] })).toEqual({ a: 0 });
});

test("time counts once when a company's group is replaced by another, which counts from zero", () => {
  const count = counter({ a: [time("first", 100)] });
  expect(count({ a: [time("first", 130), time("second", 200)] })).toEqual({ a: 230 });
  expect(count({ a: [time("first", 130), time("second", 250)] })).toEqual({ a: 50 });
  expect(count({ a: [time("second", 250)] })).toEqual({ a: 0 });
});

async function group(file: string, content: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "group-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, file), content);
  return folder;
}

test.each([
  { version: 1, file: "cpuacct.usage", content: "2500000000\n" },
  { version: 2, file: "cpu.stat", content: "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n" },
])("a group of version $version counts", async ({ file, content }) => {
  expect(timeOfGroup(await group(file, content))).toMatchObject({ milliseconds: 2_500 });
});

test("with version 1, a group that only divides time does not count", async () => {
  expect(timeOfGroup(await group("cpu.stat", "nr_periods 0\nnr_throttled 0\n"))).toBeNull();
  expect(timeOfGroup("/no/such/group")).toBeNull();
});

test("a process has used time until it is gone", async () => {
  expect(timeOfProcess(process.pid)?.milliseconds).toBeGreaterThan(0);
  const child = spawn("true");
  await once(child, "exit");
  expect(timeOfProcess(child.pid ?? 0)).toBeNull();
});

test.runIf(process.platform === "linux")("the machine has used at least as much time as a process", () => {
  const [machine] = timesOfMachine();
  expect(machine?.milliseconds).toBeGreaterThanOrEqual(timeOfProcess(process.pid)?.milliseconds ?? Infinity);
});
