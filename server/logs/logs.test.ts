import { mkdir, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type LogQuery, type LogReadLimits, openLogs } from "./logs.ts";

const id = "54fb80af-576c-4fdc-ba4f-b596c83f15a1";
const anything: LogQuery = { environmentId: id, log: "error", lines: 1_000, from: null, to: null, search: null };

async function makeLogs(files: Readonly<Record<string, string | Buffer>> = {}, limits?: LogReadLimits) {
  const folder = await mkdtemp(join(tmpdir(), "swlogs-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, id));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, id, name), content);
  const logs = openLogs(folder, limits);
  const read = (query: Partial<LogQuery> = {}) => logs.read({ ...anything, ...query });
  return { folder, logs, read };
}

const first = "error-20261101T000000000Z.log";
const second = "error-20261102T000000000Z.log";
const at = (time: string, text = "x") => `[2026-11-${time}Z] ${text}`;
const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`).join("\n");

test("returns the newest lines of all files, oldest first", async () => {
  const { read } = await makeLogs({ [first]: "1\n2\n3\n", [second]: "4\n5\n" });
  expect(await read()).toEqual({ text: "1\n2\n3\n4\n5", isComplete: true });
  expect(await read({ lines: 3 })).toEqual({ text: "3\n4\n5", isComplete: true });
  expect(await read({ lines: 1 })).toEqual({ text: "5", isComplete: true });
});

test("returns nothing if there is no such log", async () => {
  const { read } = await makeLogs({ [first]: "1\n" });
  const nothing = { text: "", isComplete: true };
  expect(await read({ log: "cache-perf" })).toEqual(nothing);
  expect(await read({ log: "access" })).toEqual(nothing);
  expect(await read({ environmentId: "00000000-576c-4fdc-ba4f-b596c83f15a1" })).toEqual(nothing);
});

test("accepts only environment ids as folder names", async () => {
  const { read } = await makeLogs();
  await expect(read({ environmentId: "../secrets" })).rejects.toThrow("Not an id");
});

test("lines across blocks are complete, even lines longer than several blocks", async () => {
  const long = "l".repeat(1_000_000);
  const text = `${numbered(0, 100_000)}\n${long}\n${numbered(100_000, 100_000)}\n`;
  const { read } = await makeLogs({ [first]: text });
  const lines = (await read({ lines: 20_000 })).text.split("\n");
  expect(lines).toEqual(numbered(180_000, 20_000).split("\n"));
  const around = (await read({ lines: 3, search: "l", log: "error" })).text.split("\n");
  expect(around).toHaveLength(3);
  const found = (await read({ search: "lll" })).text;
  expect(found).toMatch(/^l+…$/);
  expect(found.length).toBeLessThan(17_000);
  expect((await read({ search: "line 99999" })).text).toBe("line 99999");
  expect((await read({ search: "line 100000" })).text).toBe("line 100000");
});

test("invalid UTF-8 is replaced, and characters across blocks are not broken", async () => {
  const { read } = await makeLogs({ [first]: Buffer.from([0x61, 0xff, 0xc3, 0x0a, 0xc3, 0xbc, 0x0a]) });
  expect((await read()).text).toBe("a\ufffd\ufffd\nü");
  const umlauts = `x${"ü".repeat(5_000)}\n`.repeat(100);
  const many = await makeLogs({ [first]: umlauts });
  expect(new Set((await many.read()).text.split("\n"))).toEqual(new Set([umlauts.split("\n")[0]]));
});

test("a last line without a line feed is included", async () => {
  const { read } = await makeLogs({ [first]: "1\n2" });
  expect((await read()).text).toBe("1\n2");
});

test("a search ignores case and is not a pattern", async () => {
  const { read } = await makeLogs({ [first]: "Fatal error: .*\nÜBER 100% (a)\nother\n" });
  expect((await read({ search: "FATAL" })).text).toBe("Fatal error: .*");
  expect((await read({ search: ".*" })).text).toBe("Fatal error: .*");
  expect((await read({ search: "über" })).text).toBe("ÜBER 100% (a)");
  expect((await read({ search: "nowhere" })).text).toBe("");
});

test("both time bounds are inclusive", async () => {
  const lines = ["01T10:00:00.000", "01T10:00:00.001", "01T10:05:00.000", "01T11:00:00.000"].map((time) => at(time));
  const { read } = await makeLogs({ [first]: `${lines.join("\n")}\n` });
  const between = async (from: string | null, to: string | null) => {
    const dates = [from, to].map((time) => (time === null ? null : new Date(`2026-11-${time}Z`)));
    const { text } = await read({ from: dates[0] ?? null, to: dates[1] ?? null });
    return text === "" ? [] : text.split("\n").map((line) => lines.indexOf(line));
  };
  expect(await between("01T10:00:00.001", null)).toEqual([1, 2, 3]);
  expect(await between(null, "01T10:00:00.001")).toEqual([0, 1]);
  expect(await between("01T10:00:00.001", "01T10:05:00.000")).toEqual([1, 2]);
  expect(await between("01T12:00:00.000", null)).toEqual([]);
  expect(await between(null, "01T09:00:00.000")).toEqual([]);
});

test("a time in an access log covers the whole second", async () => {
  const line = '::1 - - [02/Nov/2026:10:00:05 +0000] "GET /?a=[02/Nov/2020:10:00:05 HTTP/1.1" 200 1 "-" "-" 1 "a"';
  const { read } = await makeLogs({ "access-20261102T000000000Z.log": `${line}\n` });
  const has = async (from: string, to: string) =>
    (await read({ log: "access", from: new Date(from), to: new Date(to) })).text === line;
  expect(await has("2026-11-02T10:00:05.900Z", "2026-11-02T10:00:07Z")).toBe(true);
  expect(await has("2026-11-02T10:00:04Z", "2026-11-02T10:00:05Z")).toBe(true);
  expect(await has("2026-11-02T10:00:06Z", "2026-11-02T10:00:07Z")).toBe(false);
  expect(await has("2026-11-02T10:00:03Z", "2026-11-02T10:00:04.999Z")).toBe(false);
});

test("lines without a time are skipped in searches by time", async () => {
  const { read } = await makeLogs({ [first]: `${at("01T10:00:00.000")}\ndamaged\n[2026-99-99T99:99:99.999Z] x\n` });
  expect((await read({ from: new Date("2026-11-01") })).text).toBe(at("01T10:00:00.000"));
});

test("finds lines despite a clock that was set back a little", async () => {
  const lines = [at("01T10:00:00.000", "a"), at("01T09:59:40.000", "b")];
  const { read } = await makeLogs({ [first]: `${lines.join("\n")}\n` });
  expect((await read({ from: new Date("2026-11-01T09:59:50Z") })).text).toBe(lines[0]);
});

test("finds an old line behind a great many later ones", async () => {
  const later = `${at("02T10:00:00.000", "later".padEnd(100, "."))}\n`.repeat(200_000);
  const wanted = at("01T10:00:00.000", "wanted");
  const { read } = await makeLogs({ [first]: `${wanted}\n${later}` });
  expect((await read({ to: new Date("2026-11-01T12:00:00Z") })).text).toBe(wanted);
});

/** A sparse file of ten gigabytes with lines at its end. */
async function hugeLog(lastLines: string, limits?: LogReadLimits) {
  const world = await makeLogs({}, limits);
  const file = await open(join(world.folder, id, first), "w");
  await file.truncate(10e9);
  await file.write(`\n${lastLines}`, 10e9);
  await file.close();
  return world;
}

test("reads only the end of a 10 GB log for its last lines", async () => {
  const limits = { scannedBytes: 1_000_000, milliseconds: 60_000, characters: 1e6 };
  const { read } = await hugeLog(`${numbered(0, 5_000)}\n`, limits);
  expect(await read({ lines: 1_000 })).toEqual({ text: numbered(4_000, 1_000), isComplete: true });
});

test("a search in a 10 GB log stops, is reported as incomplete, and lets other work run", async () => {
  const { read } = await hugeLog(`needle\n${numbered(0, 5_000)}\n`);
  let turns = 0;
  let isSearching = true;
  const countTurns = () => {
    turns += 1;
    if (isSearching) setImmediate(countTurns);
  };
  countTurns();
  const before = process.memoryUsage().arrayBuffers;
  const found = await read({ search: "Needle" });
  isSearching = false;
  expect(found).toEqual({ text: "needle", isComplete: false });
  expect(turns).toBeGreaterThan(100);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20e6);
});

test("a search stops at its timeout", async () => {
  const { read } = await hugeLog("needle\n", { scannedBytes: 1e12, milliseconds: 200, characters: 1e6 });
  expect(await read({ search: "needle" })).toEqual({ text: "needle", isComplete: false });
});

test("an answer never exceeds the character limit", async () => {
  const limits = { scannedBytes: 1e9, milliseconds: 5_000, characters: 1_000 };
  const { read } = await makeLogs({ [first]: `${"x".repeat(300)}\n`.repeat(10) }, limits);
  const { text, isComplete } = await read();
  expect([text.split("\n").length, isComplete]).toEqual([3, false]);
});

test("tolerates that a file is removed while it is read", async () => {
  const { folder, read } = await makeLogs({ [first]: "1\n", [second]: "2\n" });
  const reading = read();
  await rm(join(folder, id), { recursive: true });
  expect(["", "1", "2", "1\n2"]).toContain((await reading).text);
});

test("lists only environments that have logs", async () => {
  const { folder, logs } = await makeLogs();
  await writeFile(join(folder, "notes.txt"), "");
  await mkdir(join(folder, "lost+found"));
  expect(await logs.list()).toEqual([id]);
  await logs.remove(id);
  await logs.remove(id);
  expect(await logs.list()).toEqual([]);
  expect(await openLogs(join(folder, "nowhere")).list()).toEqual([]);
});

test("removes only files that were created before a given time", async () => {
  const { folder, logs } = await makeLogs({ [first]: "1\n", [second]: "2\n", "notes.txt": "" });
  await logs.removeBegunBefore(id, new Date("2026-11-02T00:00:00Z"));
  expect((await readdir(join(folder, id))).toSorted()).toEqual([second, "notes.txt"]);
});
