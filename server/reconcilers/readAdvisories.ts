/** Reads the vulnerability feed if it has changed, and marks the installed packages that are affected. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { type Advisory, type AffectedRange, InvalidFeed, readAdvisory, recordsIn } from "../packages/advisoryFeed.ts";
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

interface ReadAdvisoriesOptions {
  readonly database: Database;
  /** A URL or the path of a file. */
  readonly place: string;
}

/** How often a URL is fetched. A file is checked in every run. */
const checkHours = 6;
const downloadSeconds = 900;
/** Rows per insert statement. */
const batchSize = 2_000;

interface Feed {
  /** Changes with the feed, or null if unknown. */
  readonly mark: string | null;
  readonly content: AsyncIterable<Buffer>;
}

async function openFile(file: string): Promise<Feed> {
  const { size, mtimeMs, ino } = await stat(file);
  return { mark: `${file} ${size} ${mtimeMs} ${ino}`, content: createReadStream(file, { highWaterMark: 1 << 20 }) };
}

async function openUrl(address: string, signal: AbortSignal): Promise<Feed> {
  const url = new URL(address);
  const { status, body } = await ask(url, { source: url, seconds: downloadSeconds, signal });
  if (status !== 200) throw new InvalidFeed(`The feed at ${url.host} answered with status ${status}.`);
  return { mark: null, content: body };
}

const isUrl = (place: string) => /^https?:\/\//.test(place);

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

/** Writes a new reading next to the current one. Returns the number of records read and skipped. */
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
    if (rows.length < batchSize) continue;
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

/** Returns a sentence for the operator. */
function problemOf(error: unknown, place: string): string {
  if (error instanceof InvalidFeed || error instanceof SourceFailure) return error.message;
  return `The feed ${isUrl(place) ? "" : "in the file "}can't be read: ${error instanceof Error ? error.message : error}`;
}

/** If the feed can't be read, keeps the current reading, stores the reason, and rejects. */
export async function readAdvisories({ database, place }: ReadAdvisoriesOptions, signal: AbortSignal): Promise<void> {
  const before = await advisoryFeed(database);
  if (isUrl(place) && !isDue(before.checked_at)) return;
  try {
    const feed = await (isUrl(place) ? openUrl(place, signal) : openFile(place));
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
