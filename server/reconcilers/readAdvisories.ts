/** Reads the feed of vulnerabilities where it is another one than before, and marks what is installed. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { type Advisory, type AffectedRange, NoFeed, readAdvisory, recordsIn } from "../packages/advisoryFeed.ts";
import { ask, SourceFailure } from "../packages/request.ts";
import { versionKey } from "../packages/versions.ts";
import type { Database } from "../store/database.ts";
import {
  activateReading,
  addAdvisoryRanges,
  advisoryFeed,
  forgetOtherReadings,
  type NewAdvisoryRange,
  noteChecked,
} from "../store/packages/advisories.ts";

export interface ReadAdvisoriesOptions {
  readonly database: Database;
  /** An address, or the path of a file. */
  readonly place: string;
}

/** One at an address is asked for so often; a file is looked at each time. */
const checkHours = 6;
const downloadSeconds = 900;
/** Written in one statement. */
const together = 2_000;

interface Feed {
  /** Unchanged while the feed is; null if unknown. */
  readonly mark: string | null;
  readonly content: AsyncIterable<Buffer>;
}

async function openFile(file: string): Promise<Feed> {
  const { size, mtimeMs, ino } = await stat(file);
  return { mark: `${file} ${size} ${mtimeMs} ${ino}`, content: createReadStream(file, { highWaterMark: 1 << 20 }) };
}

async function openAddress(address: string, signal: AbortSignal): Promise<Feed> {
  const url = new URL(address);
  const { status, body } = await ask(url, { source: url, seconds: downloadSeconds, signal });
  if (status !== 200) throw new NoFeed(`The feed at ${url.host} answers with the status ${status}.`);
  return { mark: null, content: body };
}

const isAddress = (place: string) => /^https?:\/\//.test(place);

function rowOf(advisory: Advisory, range: AffectedRange): NewAdvisoryRange {
  const from = `${range.isFromIncluded ? "" : "after "}${range.from ?? "any"}`;
  return {
    advisory_id: advisory.id,
    kind: range.kind,
    slug: range.slug,
    from_key: range.from === null ? null : versionKey(range.from),
    is_from_included: range.isFromIncluded,
    to_key: range.to === null ? null : versionKey(range.to),
    is_to_included: range.isToIncluded,
    affected: `${from} – ${range.isToIncluded ? "" : "before "}${range.to ?? "any"}`,
    patched: range.patched,
    title: advisory.title,
    cve: advisory.cve,
    score: advisory.score,
    reference: advisory.reference,
  };
}

/** Beside what is in force. Returns how many records there are, and how many were not understood. */
async function write(database: Database, reading: number, feed: Feed, signal: AbortSignal) {
  let [records, skipped] = [0, 0];
  let rows: NewAdvisoryRange[] = [];
  for await (const bytes of recordsIn(feed.content)) {
    signal.throwIfAborted();
    const advisory = bytes === null ? null : readAdvisory(bytes);
    if (advisory === null) {
      skipped += 1;
      continue;
    }
    records += 1;
    rows.push(...advisory.ranges.map((range) => rowOf(advisory, range)));
    if (rows.length < together) continue;
    await addAdvisoryRanges(database, reading, rows);
    rows = [];
  }
  await addAdvisoryRanges(database, reading, rows);
  return { records, skipped };
}

function isDue(checkedAt: Date | null): boolean {
  const age = checkedAt === null ? Infinity : Date.now() - checkedAt.getTime();
  return age < 0 || age > checkHours * 3_600_000;
}

/** A sentence for the operator. */
function problemOf(error: unknown, place: string): string {
  if (error instanceof NoFeed || error instanceof SourceFailure) return error.message;
  return `The feed ${isAddress(place) ? "" : "in the file "}can't be read: ${error instanceof Error ? error.message : error}`;
}

/** What was in force stays so where the feed can't be read, and the reason is kept. Rejects then, too. */
export async function readAdvisories({ database, place }: ReadAdvisoriesOptions, signal: AbortSignal): Promise<void> {
  const before = await advisoryFeed(database);
  if (isAddress(place) && !isDue(before.checked_at)) return;
  try {
    const feed = await (isAddress(place) ? openAddress(place, signal) : openFile(place));
    if (feed.mark !== null && feed.mark === before.mark) return;
    await forgetOtherReadings(database);
    const reading = before.reading + 1;
    const counts = await write(database, reading, feed, signal);
    await activateReading(database, { reading, mark: feed.mark, ...counts });
  } catch (error) {
    signal.throwIfAborted();
    await noteChecked(database, problemOf(error, place));
    throw error;
  }
}
