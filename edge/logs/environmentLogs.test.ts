import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { makeFolder } from "../testing/withEdge.ts";
import { createEnvironmentLogs } from "./environmentLogs.ts";
import { defaultLogLimits } from "./logFiles.ts";

afterEach(() => vi.useRealTimers());

const stamp = /^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] /;

async function linesIn(folder: string, name: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.startsWith(`${name}-`)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), "utf8")));
  return texts.join("").split("\n").slice(0, -1);
}

test("each line of the error log starts with its time", async () => {
  const folder = await makeFolder();
  const logs = createEnvironmentLogs({ folder });
  logs.error("one", "PHP Warning:  grüße in /site/index.php on line 3");
  await logs.close();
  const [line = ""] = await linesIn(path.join(folder, "one"), "error");
  expect(line).toMatch(stamp);
  expect(line.replace(stamp, "")).toBe("PHP Warning:  grüße in /site/index.php on line 3");
});

test("PHP's log output can't inject lines or terminal codes, and is truncated", async () => {
  const folder = await makeFolder();
  const logs = createEnvironmentLogs({ folder });
  logs.error("one", "a\r\n[2020-01-01T00:00:00.000Z] forged\u2028\u001b[2J\u009b\u0000\tb");
  logs.error("one", "x".repeat(1_000_000));
  await logs.close();
  const [forged = "", long = "", ...more] = await linesIn(path.join(folder, "one"), "error");
  expect(forged.replace(stamp, "")).toBe(
    `${String.raw`a\x0d\x0a[2020-01-01T00:00:00.000Z] forged\xe2\x80\xa8\x1b[2J\x9b\x00`}\tb`,
  );
  expect(long.length).toBeLessThan(8_300);
  expect(long).toMatch(/…$/);
  expect(more).toEqual([]);
});

test("errors over the limit per minute are only counted, without affecting other environments", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const folder = await makeFolder();
  const logs = createEnvironmentLogs({ folder, errorCharactersPerMinute: 1_000 });
  for (let number = 0; number < 1_000; number += 1) logs.error("noisy", "x".repeat(100));
  logs.error("quiet", "kept");
  vi.advanceTimersByTime(60_000);
  logs.error("noisy", "the next minute");
  await logs.close();
  const noisy = (await linesIn(path.join(folder, "noisy"), "error")).map((line) => line.replace(stamp, ""));
  expect(noisy).toHaveLength(12);
  expect(noisy.slice(-2)).toEqual([
    "Sitewright: … and 990 more lines in this minute, which exceed the limit and are not kept",
    "the next minute",
  ]);
  expect(await linesIn(path.join(folder, "quiet"), "error")).toHaveLength(1);
});

test("the number of dropped lines is also logged on close", async () => {
  const folder = await makeFolder();
  const logs = createEnvironmentLogs({ folder, errorCharactersPerMinute: 10 });
  for (const text of ["a", "x".repeat(20), "y"]) logs.error("one", text);
  await logs.close();
  expect((await linesIn(path.join(folder, "one"), "error")).at(-1)).toContain("… and 2 more lines");
});

test("lost lines are reported in the error log when writing works again", async () => {
  const folder = await makeFolder();
  const logs = createEnvironmentLogs({ folder, limits: { ...defaultLogLimits, flushMilliseconds: 1 } });
  await writeFile(path.join(folder, "one"), "in the way");
  const facts = { address: "::1", fromPhp: false, at: new Date(), method: "GET", url: "/", httpVersion: "1.1" };
  const answer = { status: 200, bytes: 1, referrer: undefined, userAgent: undefined, milliseconds: 1, host: "a" };
  logs.access("one", { ...facts, ...answer });
  await logs.close();
  await rm(path.join(folder, "one"));
  await mkdir(path.join(folder, "one"));
  logs.access("one", { ...facts, ...answer });
  await logs.close();
  expect(await linesIn(path.join(folder, "one"), "access")).toHaveLength(1);
  const [line = ""] = await linesIn(path.join(folder, "one"), "error");
  expect(line.replace(stamp, "")).toBe(
    "Sitewright: lines of the access log were lost because they could not be written: 1",
  );
});
