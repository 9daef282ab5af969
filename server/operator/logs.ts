/** `logs`: the newest lines of all processes' logs, formatted. */
import { watch } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import * as v from "valibot";
import type { Run } from "./command.ts";
import { exitFailed, Failure, usageError } from "./failure.ts";

const processes = ["control", "edge", "dns", "postgres"] as const;
const defaultLines = 50;
const maxBytes = 4_000_000;

export const logs: Run = async ({ words: [only], flags }, { config }) => {
  const chosen = only === undefined ? processes : processes.filter((name) => name === only);
  if (chosen.length === 0) {
    throw new Failure(`There is no log "${only}". Choose one of ${processes.join(", ")}.`, usageError);
  }
  const count = typeof flags.lines === "string" ? Number(flags.lines) : defaultLines;
  if (!Number.isInteger(count) || count < 1) {
    throw new Failure("--lines must be a positive whole number.", usageError);
  }
  const write = flags.json === true ? (line: LogLine) => line.text : format;
  const folder = join(config.data, "logs");
  const files = chosen.map((name) => ({ name, path: join(folder, `${name}.log`) }));
  const read = await Promise.all(files.map(readNewest));
  const lines = read.flatMap((each) => each.lines);
  if (lines.length === 0) throw new Failure(`There are no logs in ${folder}.`, exitFailed);
  const newest = lines.toSorted((one, other) => one.time - other.time).slice(-count);
  const text = newest.map(write).join("\n");
  if (flags.follow !== true) return text;
  process.stdout.write(`${text}\n`);
  await follow(folder, read, (line) => process.stdout.write(`${write(line)}\n`));
  return "";
};

interface LogFile {
  readonly name: string;
  readonly path: string;
}

interface LogLine {
  readonly name: string;
  readonly text: string;
  /** Milliseconds since 1970. A line without a time gets the time of the line before. */
  readonly time: number;
}

interface ReadFile {
  readonly file: LogFile;
  readonly lines: readonly LogLine[];
  /** In bytes, up to the last line that was read. */
  readonly size: number;
}

async function readNewest(log: LogFile): Promise<ReadFile> {
  const file = await open(log.path).catch(() => null);
  if (file === null) return { file: log, lines: [], size: 0 };
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - maxBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const lines = linesOf(log.name, buffer.subarray(0, bytesRead).toString("utf8").split("\n"));
    return { file: log, lines, size: start + bytesRead };
  } finally {
    await file.close();
  }
}

function linesOf(name: string, texts: readonly string[]): LogLine[] {
  let time = 0;
  return texts.flatMap((text) => {
    if (text === "") return [];
    time = timeOf(text) ?? time;
    return [{ name, text, time }];
  });
}

const Entry = v.object({
  level: v.number(),
  time: v.number(),
  msg: v.optional(v.string(), ""),
  environment: v.optional(v.string()),
  operation: v.optional(v.string()),
  reference_id: v.optional(v.string()),
  err: v.optional(v.object({ message: v.optional(v.string()) })),
});

function entryOf(text: string): v.InferOutput<typeof Entry> | null {
  try {
    const parsed = v.safeParse(Entry, JSON.parse(text));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}

/** PostgreSQL writes `2026-11-25 08:00:00.000 UTC`; Sitewright's processes write JSON. */
function timeOf(text: string): number | null {
  const [, date, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d{3}) (?:UTC|GMT)/.exec(text) ?? [];
  if (date !== undefined) return Date.parse(`${date}T${time}Z`);
  return entryOf(text)?.time ?? null;
}

const levels: readonly (readonly [minimum: number, name: string])[] = [
  [60, "FATAL"],
  [50, "ERROR"],
  [40, "WARN"],
  [30, "INFO"],
  [0, "DEBUG"],
];

/** `2026-11-25 08:00:00  control   WARN   message: reason (operation id, reference 63384242…)`, in the local time zone. */
function format({ name, text }: LogLine): string {
  const entry = entryOf(text);
  if (entry === null) return `${name.padEnd(8)}  ${text}`;
  const level = levels.find(([minimum]) => entry.level >= minimum)?.[1] ?? "";
  const reason = entry.err?.message === undefined || entry.err.message === entry.msg ? "" : `: ${entry.err.message}`;
  const time = new Date(entry.time).toLocaleString("sv-SE");
  const { environment, operation, reference_id: reference } = entry;
  const ids = Object.entries({ environment, operation, reference }).filter(([, id]) => id !== undefined);
  const context = ids.length === 0 ? "" : ` (${ids.map(([kind, id]) => `${kind} ${id}`).join(", ")})`;
  return `${time}  ${name.padEnd(8)}  ${level.padEnd(5)}  ${entry.msg}${reason}${context}`;
}

/** Passes new lines to `print`, until Ctrl-C. A file that is new or was rotated is read from its start. */
async function follow(folder: string, read: readonly ReadFile[], print: (line: LogLine) => void): Promise<void> {
  const sizes = new Map(read.map(({ file, size }) => [file.path, size]));
  async function printNewLines({ name, path }: LogFile): Promise<void> {
    const [known = 0, size] = [sizes.get(path), await sizeOf(path)];
    const start = size < known ? 0 : known;
    const text = (await readFile(path)).subarray(start, size).toString("utf8");
    const end = text.lastIndexOf("\n") + 1;
    sizes.set(path, start + Buffer.byteLength(text.slice(0, end)));
    for (const line of linesOf(name, text.slice(0, end).split("\n"))) print(line);
  }
  let pending = Promise.resolve();
  const onChange = (file: LogFile) => {
    pending = pending.then(() => printNewLines(file)).catch(() => undefined);
  };
  const watcher = watch(folder, (_, changed) => {
    for (const { file } of read) if (basename(file.path) === changed) onChange(file);
  });
  // Lines may have arrived before the watcher.
  for (const { file } of read) onChange(file);
  await new Promise<void>((resolve) => process.once("SIGINT", () => resolve()).once("SIGTERM", () => resolve()));
  watcher.close();
}

const sizeOf = (path: string) =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );
