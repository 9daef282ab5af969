/**
 * Reads a zone file (RFC 1035, section 5; `$TTL` by RFC 2308). Strict: anything unknown is an error with its line, and
 * no part of the file is used then.
 */
import { readOwner, writeName } from "./names.ts";
import { BadValue } from "./records/badValue.ts";
import { recordType } from "./records/recordTypes.ts";
import type { DnsRecordSet } from "./table.ts";
import { BadZoneFile, readEntries, type ZoneFileEntry } from "./zoneFileEntries.ts";

/** Indexes of the words of a value that are names and may be relative. */
const namesAt: Readonly<Record<string, readonly number[]>> = {
  NS: [0],
  CNAME: [0],
  PTR: [0],
  MX: [1],
  SRV: [3],
  SOA: [0, 1],
};
/** Indexes of the words of a value that are times and may be written as `1h`. */
const timesAt: Readonly<Record<string, readonly number[]>> = { SOA: [3, 4, 5, 6] };

const timePattern = /^(?:\d+[smhdw])+$|^\d+$/i;
const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const maxTtl = 2 ** 31 - 1;

interface Context {
  origin: string;
  owner: string | null;
  defaultTtl: number | null;
  lastTtl: number | null;
}

/**
 * Returns all record sets in the order of the file, including SOA and NS. `origin` is the zone's name. Throws
 * `BadZoneFile`.
 */
export function readZoneFile(text: string, origin: string): DnsRecordSet[] {
  const sets = new Map<string, { name: string; type: string; ttl: number; values: Set<string> }>();
  const context: Context = { origin: `${origin.replace(/\.$/, "")}.`, owner: null, defaultTtl: null, lastTtl: null };
  for (const entry of readEntries(text)) {
    try {
      const record = readEntry(entry, context);
      if (record === null) continue;
      const key = `${record.name} ${record.type}`;
      const set = sets.get(key);
      if (set === undefined) sets.set(key, { ...record, values: new Set([record.value]) });
      else if (set.ttl !== record.ttl)
        throw new BadValue("Records with the same name and type must have one time to live");
      else set.values.add(record.value);
    } catch (error) {
      if (error instanceof BadValue) throw new BadZoneFile(entry.line, error.message);
      throw error;
    }
  }
  return [...sets.values()].map(({ name, type, ttl, values }) => ({ name, type, ttl, values: [...values] }));
}

interface FileRecord {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly value: string;
}

/** Null for a directive. */
function readEntry(entry: ZoneFileEntry, context: Context): FileRecord | null {
  const words = [...entry.words];
  if (words[0]?.startsWith("$")) return applyDirective(words, context);
  if (!entry.isContinued) context.owner = absoluteName(words.shift() ?? "", context.origin);
  if (context.owner === null) throw new BadValue("The first record has no name");
  const ttl = readTtl(words);
  const type = words.shift()?.toUpperCase();
  if (type === undefined) throw new BadValue("There is a name but no record");
  const { read, write } = recordType(type);
  context.lastTtl = ttl ?? context.defaultTtl ?? context.lastTtl;
  if (context.lastTtl === null) throw new BadValue("There is no time to live. Add one to this line or set $TTL");
  const value = write(read(absoluteValue(type, words, context.origin)));
  const name = writeName(readOwner(context.owner)).slice(0, -1);
  return { name, type, ttl: context.lastTtl, value };
}

function applyDirective(words: readonly string[], context: Context): null {
  const [directive, value, more] = words;
  if (value === undefined || more !== undefined) throw new BadValue(`${directive} must have exactly one value`);
  if (directive === "$TTL") context.defaultTtl = parseTime(value);
  else if (directive === "$ORIGIN") context.origin = absoluteName(value, context.origin);
  else throw new BadValue(`${directive} is not supported. Only $TTL and $ORIGIN are`);
  return null;
}

/** Removes time to live and class, in any order, from the start of the words. Returns the time to live or null. */
function readTtl(words: string[]): number | null {
  let ttl: number | null = null;
  for (;;) {
    const [word = ""] = words;
    if (ttl === null && timePattern.test(word)) ttl = parseTime(word);
    else if (/^(CH|HS|CS)$/i.test(word)) throw new BadValue(`Class ${word} is not supported. Only IN is`);
    else if (!/^IN$/i.test(word)) return ttl;
    words.shift();
  }
}

function absoluteValue(type: string, words: readonly string[], origin: string): string {
  // In zone files each word is a separate text, quoted or not.
  if (type === "TXT" || type === "SPF") {
    return words.map((word) => (word.startsWith('"') ? word : `"${word}"`)).join(" ");
  }
  return words
    .map((word, index) => {
      if (namesAt[type]?.includes(index)) return absoluteName(word, origin);
      return timesAt[type]?.includes(index) ? `${parseTime(word)}` : word;
    })
    .join(" ");
}

function absoluteName(word: string, origin: string): string {
  if (word === "@") return origin;
  if (word.endsWith(".")) return word;
  return origin === "." ? `${word}.` : `${word}.${origin}`;
}

/** Parses a time. Returns seconds. Throws `BadValue`. */
function parseTime(word: string): number {
  if (!timePattern.test(word)) throw new BadValue(`${word} is not a time, such as 3600 or 1h`);
  const parts = word.toLowerCase().match(/\d+[smhdw]?/g) ?? [];
  const sum = parts.reduce((total, part) => total + Number.parseInt(part, 10) * (seconds[part.slice(-1)] ?? 1), 0);
  if (sum > maxTtl) throw new BadValue(`${word} is longer than ${maxTtl} seconds`);
  return sum;
}
