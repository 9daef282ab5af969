import { appendFile, mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { makeFolder } from "../testing/withEdge.ts";
import { createLogFiles, defaultLogLimits, type LogLimits } from "./logFiles.ts";

interface Lost {
  readonly environmentId: string;
  readonly name: string;
  readonly lines: number;
}

async function makeLogs(limits: Partial<LogLimits> = {}, parent?: string) {
  const folder = parent ?? path.join(await makeFolder(), "logs");
  const lost: Lost[] = [];
  const onLost = (environmentId: string, name: string, lines: number) => void lost.push({ environmentId, name, lines });
  const logs = createLogFiles({ folder, limits: { ...defaultLogLimits, ...limits }, onLost });
  const names = async (id = "one") => (await readdir(path.join(folder, id)).catch(() => [])).toSorted();
  const read = async (id = "one", name = "access") => {
    const files = (await names(id)).filter((file) => file.startsWith(`${name}-`));
    return (await Promise.all(files.map((file) => readFile(path.join(folder, id, file), "utf8")))).join("");
  };
  return { folder, logs, lost, names, read };
}

test("lines are written in the background, in order, each to its log", async () => {
  const { logs, names, read } = await makeLogs();
  for (const line of ["1", "2", "3"]) logs.write("one", "access", line);
  logs.write("one", "error", "e");
  logs.write("two", "access", "other");
  await eventually(async () => expect(await read("two")).toBe("other\n"));
  expect([await read(), await read("one", "error")]).toEqual(["1\n2\n3\n", "e\n"]);
  expect(await names()).toEqual([
    expect.stringMatching(/^access-\d{8}T\d{9}Z\.log$/),
    expect.stringMatching(/^error-\d{8}T\d{9}Z\.log$/),
  ]);
});

test("a line that arrives during a flush is written once", async () => {
  const { logs, read } = await makeLogs();
  const all = Array.from({ length: 20 }, (_, index) => `log-${index}`);
  for (const id of all) logs.write(id, "access", "1");
  const writing = logs.flush();
  await new Promise((resolve) => setImmediate(resolve));
  for (const id of all) logs.write(id, "access", "2");
  await writing;
  await logs.flush();
  for (const id of all) expect(await read(id)).toBe("1\n2\n");
});

test("only the owner may read the files", async () => {
  const { folder, logs, names } = await makeLogs();
  logs.write("one", "access", "1");
  await logs.flush();
  const file = path.join(folder, "one", (await names())[0] ?? "");
  expect((await stat(path.join(folder, "one"))).mode & 0o777).toBe(0o700);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("the next process ends a line that was cut off and continues the file", async () => {
  const { folder, logs, names, read } = await makeLogs();
  logs.write("one", "access", "whole");
  await logs.flush();
  await appendFile(path.join(folder, "one", (await names())[0] ?? ""), "half a li");
  const next = await makeLogs({}, folder);
  next.logs.write("one", "access", "next");
  await next.logs.flush();
  expect(await read()).toBe("whole\nhalf a li\nnext\n");
});

test("a full file is followed by another, and the oldest are removed when the log is too large", async () => {
  const { folder, logs, names } = await makeLogs({ fileBytes: 1_000, logBytes: 5_000 });
  for (let number = 0; number < 200; number += 1) {
    logs.write("one", "access", `${number}`.padEnd(99, "."));
    await logs.flush();
  }
  const all = await names();
  const texts = await Promise.all(all.map((file) => readFile(path.join(folder, "one", file), "utf8")));
  expect(all).toHaveLength(5);
  expect(texts.map((text) => text.length)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000]);
  const numbers = texts
    .join("")
    .split("\n")
    .slice(0, -1)
    .map((line) => Number.parseInt(line, 10));
  expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => 150 + index));
});

test("an old file is not continued", async () => {
  const { folder, logs, names } = await makeLogs();
  await mkdir(path.join(folder, "one"), { recursive: true });
  await writeFile(path.join(folder, "one", "access-20200101T000000000Z.log"), "old\n");
  logs.write("one", "access", "new");
  await logs.flush();
  expect(await names()).toHaveLength(2);
  expect(await readFile(path.join(folder, "one", "access-20200101T000000000Z.log"), "utf8")).toBe("old\n");
});

test("after the clock was set back, the newest file is still the last", async () => {
  const { folder, logs, names } = await makeLogs({ fileBytes: 3 });
  await mkdir(path.join(folder, "one"), { recursive: true });
  await writeFile(path.join(folder, "one", "access-29990101T000000000Z.log"), "old\n");
  logs.write("one", "access", "new");
  await logs.flush();
  expect(await names()).toEqual(["access-29990101T000000000Z.log", "access-29990101T000000001Z.log"]);
});

test("a removed folder is created again", async () => {
  const { folder, logs, read } = await makeLogs();
  logs.write("one", "access", "1");
  await logs.flush();
  await rm(folder, { recursive: true });
  logs.write("one", "access", "2");
  await logs.flush();
  expect(await read()).toBe("2\n");
});

test("lost lines are counted, and reported when writing works again", async () => {
  const { folder, logs, lost, read } = await makeLogs();
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "one"), "a file where a folder should be");
  for (const line of ["1", "2", "3"]) logs.write("one", "access", line);
  await logs.flush();
  expect(lost).toEqual([]);
  await rm(path.join(folder, "one"));
  logs.write("one", "access", "4");
  await logs.flush();
  expect(lost).toEqual([{ environmentId: "one", name: "access", lines: 3 }]);
  expect(await read()).toBe("4\n");
});

test.skipIf(process.platform !== "linux")("a full disk only loses lines", async () => {
  const { folder, logs, lost, read, names } = await makeLogs();
  await mkdir(path.join(folder, "one"), { recursive: true });
  const name = `access-${new Date().toISOString().replace(/[-:.]/g, "")}.log`;
  await symlink("/dev/full", path.join(folder, "one", name));
  for (const line of ["1", "2"]) logs.write("one", "access", line);
  await logs.flush();
  await rm(path.join(folder, "one", name));
  logs.write("one", "access", "3");
  await logs.flush();
  expect(lost).toEqual([{ environmentId: "one", name: "access", lines: 2 }]);
  expect(await read()).toBe("3\n");
  expect(await names()).toHaveLength(1);
});

test("a log that can't be written does not affect others", async () => {
  const { folder, logs, read } = await makeLogs();
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "one"), "in the way");
  logs.write("one", "access", "lost");
  logs.write("two", "access", "kept");
  await logs.flush();
  expect(await read("two")).toBe("kept\n");
});

test("lines over the waiting limits are lost, per log and in total", async () => {
  const { logs, lost, read } = await makeLogs({ waitingCharacters: { each: 10, all: 15 } });
  for (const line of ["12345", "12345", "12345"]) logs.write("one", "access", line);
  for (const line of ["12345", "12345"]) logs.write("two", "access", line);
  await logs.flush();
  expect(await read()).toBe("12345\n12345\n");
  expect(await read("two")).toBe("12345\n");
  // The order of the two logs is not defined.
  expect(lost).toHaveLength(2);
  expect(lost).toContainEqual({ environmentId: "one", name: "access", lines: 1 });
  expect(lost).toContainEqual({ environmentId: "two", name: "access", lines: 1 });
});

test("other files in the folder are left alone", async () => {
  const { folder, logs, names } = await makeLogs({ fileBytes: 10, logBytes: 20 });
  await mkdir(path.join(folder, "one"), { recursive: true });
  const others = ["access-notes.log", "access.log", "accessory-20200101T000000000Z.log"];
  for (const name of others) await writeFile(path.join(folder, "one", name), "x".repeat(100));
  for (const line of ["a".repeat(20), "b".repeat(20), "c".repeat(20)]) {
    logs.write("one", "access", line);
    await logs.flush();
  }
  expect(await names()).toEqual(expect.arrayContaining(others));
});

test("a truncated file is continued", async () => {
  const { folder, logs, names, read } = await makeLogs();
  logs.write("one", "access", "1");
  await logs.flush();
  await truncate(path.join(folder, "one", (await names())[0] ?? ""));
  logs.write("one", "access", "2");
  await logs.flush();
  expect(await read()).toBe("2\n");
});
