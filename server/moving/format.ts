/**
 * The format of a backup of the installation: gzipped lines of JSON, beginning with a header and ending with row counts.
 *
 *     {"sitewright":"installation","version":1, …}            header: everything except the database
 *     {"table":"activity","columns":["id", …]}                a table, followed by its rows
 *     ["1","7f…", …]                                          each value as PostgreSQL's text, or null
 *     {"sequences":{"activity_id_seq":"1"}}
 *     {"end":{"activity":1}}                                  number of rows of each table
 */
import { type Duplex, pipeline, Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { createGunzip, createGzip } from "node:zlib";
import * as v from "valibot";
import type { DumpedTable, Sequences } from "../store/dump.ts";
import { type Sealed, UnusableFile } from "./envelope.ts";

export const formatVersion = 1;

const AnyHeader = v.object({ sitewright: v.literal("installation"), version: v.pipe(v.number(), v.integer()) });

export const Header = v.object({
  sitewright: v.literal("installation"),
  version: v.literal(formatVersion),
  madeAt: v.string(),
  /** The migrations that the database has had. */
  migrations: v.array(v.string()),
  /** Content in base64, by path below the data folder. */
  files: v.record(v.string(), v.string()),
  /** Settings of the last startup, by name. */
  settings: v.record(v.string(), v.string()),
  /** Location of the archives, in words without secrets. */
  archives: v.string(),
  /** Path of the archives if they are a folder on the machine that was backed up, or null. */
  archiveFolder: v.nullable(v.string()),
});

export type Header = v.InferOutput<typeof Header>;

const Table = v.object({ table: v.string(), columns: v.array(v.string()) });
const SequenceLine = v.object({ sequences: v.record(v.string(), v.string()) });
const End = v.object({ end: v.record(v.string(), v.pipe(v.number(), v.integer())) });

export type Entry =
  | { readonly kind: "table"; readonly table: DumpedTable }
  /** A row of the last table, as JSON. */
  | { readonly kind: "row"; readonly line: string }
  | { readonly kind: "sequences"; readonly sequences: Sequences };

/** Number of rows by table. */
export type Counts = Readonly<Record<string, number>>;

/** Yields the bytes of a backup with this content. Adds its rows to `count`. */
export async function* writeBackup(
  header: Header,
  entries: AsyncIterable<Entry>,
  count: RowCount,
): AsyncGenerator<Uint8Array> {
  yield* pipeThrough(linesOf(header, entries, count), createGzip());
}

async function* linesOf(header: Header, entries: AsyncIterable<Entry>, count: RowCount): AsyncGenerator<string> {
  yield `${JSON.stringify(header)}\n`;
  for await (const entry of entries) {
    count.add(entry);
    yield `${textOf(entry)}\n`;
  }
  yield `${JSON.stringify({ end: count.counts() })}\n`;
}

/** Yields the output of `transform`. An error on one side, or the end of the reader, also ends the other side. */
async function* pipeThrough(source: AsyncIterable<string | Uint8Array>, transform: Duplex): AsyncGenerator<Buffer> {
  pipeline(Readable.from(source, { objectMode: false }), transform, () => undefined);
  for await (const chunk of transform) yield chunk;
}

function textOf(entry: Entry): string {
  if (entry.kind === "row") return entry.line;
  if (entry.kind === "sequences") return JSON.stringify({ sequences: entry.sequences });
  return JSON.stringify({ table: entry.table.name, columns: entry.table.columns });
}

interface RowCount {
  add(entry: Entry): void;
  counts(): Counts;
}

export function countRows(): RowCount {
  const counts: Record<string, number> = {};
  let table: string | null = null;
  return {
    add: (entry: Entry) => {
      if (entry.kind === "table") {
        table = entry.table.name;
        counts[table] = 0;
      }
      if (entry.kind === "row") {
        if (table === null) throw new Error("There is a row before the first table");
        counts[table] = (counts[table] ?? 0) + 1;
      }
    },
    counts: () => counts,
  };
}

/** Rejects with `UnusableFile` if this version can't read the file. */
export async function readHeader(sealed: Sealed): Promise<Header> {
  for await (const line of readLines(sealed)) return parseHeader(line);
  throw unreadable();
}

/** Yields the file's content. Rejects with `UnusableFile` if it is damaged, at the end also if it is incomplete. */
export async function* readEntries(sealed: Sealed): AsyncGenerator<Entry> {
  const count = countRows();
  let isFirst = true;
  let hasEnded = false;
  for await (const line of readLines(sealed)) {
    if (hasEnded) throw unreadable();
    if (isFirst) {
      isFirst = false;
      continue;
    }
    const entry = parseEntry(line);
    if ("end" in entry) {
      if (!isDeepStrictEqual(entry.end, count.counts())) throw unreadable();
      hasEnded = true;
      continue;
    }
    count.add(entry);
    yield entry;
  }
  if (!hasEnded) throw unreadable();
}

function parseHeader(line: string): Header {
  const value = parse(line);
  if (v.is(AnyHeader, value) && value.version > formatVersion) {
    throw new UnusableFile(
      "The backup was made by a newer version of Sitewright. Nothing was changed. Update Sitewright, then try again.",
    );
  }
  if (!v.is(Header, value)) throw unreadable();
  return value;
}

function parseEntry(line: string): Entry | v.InferOutput<typeof End> {
  if (line.startsWith("[")) return { kind: "row", line };
  const value = parse(line);
  if (v.is(Table, value)) return { kind: "table", table: { name: value.table, columns: value.columns } };
  if (v.is(SequenceLine, value)) return { kind: "sequences", sequences: value.sequences };
  if (v.is(End, value)) return value;
  throw unreadable();
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw unreadable();
  }
}

function unreadable(cause?: unknown): UnusableFile {
  return new UnusableFile("The backup is incomplete. Nothing was changed. Use another copy of it, or another backup.", {
    cause,
  });
}

async function* readLines(sealed: Sealed): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  try {
    for await (const chunk of pipeThrough(sealed.content(), createGunzip())) {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (cause) {
    throw cause instanceof UnusableFile ? cause : unreadable(cause);
  }
  if (rest !== "") throw unreadable();
}
