/**
 * Reads a zone file (RFC 1035, section 5; `$TTL` by RFC 2308). Strict: what isn't understood is an error with its line, and
 * nothing is taken halfway.
 */
import { readOwner, writeName } from "./names.ts";
import { BadValue } from "./records/badValue.ts";
import { recordType } from "./records/recordTypes.ts";
import type { DnsRecordSet } from "./table.ts";
import { BadZoneFile, readEntries, type ZoneFileEntry } from "./zoneFileEntries.ts";

/** Which of a value's words are names, that may be relative ones. */
const namesAt: Readonly<Record<string, readonly number[]>> = {
  NS: [0],
  CNAME: [0],
  PTR: [0],
  MX: [1],
  SRV: [3],
  SOA: [0, 1],
};
/** Which of its words are times, that may be written `1h`. */
const timesAt: Readonly<Record<string, readonly number[]>> = { SOA: [3, 4, 5, 6] };

const time = /^(?:\d+[smhdw])+$|^\d+$/i;
const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const mostTtl = 2 ** 31 - 1;

interface Context {
  origin: string;
  owner: string | null;
  defaultTtl: number | null;
  lastTtl: number | null;
}

/** Gives every record set in the file, SOA and NS included, in its order. `origin` is the zone's name. Throws `BadZoneFile`. */
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
      else if (set.ttl !== record.ttl) throw new BadValue("Records of one name and type have one time to live");
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
  if (words[0]?.startsWith("$")) return direct(words, context);
  if (!entry.isContinued) context.owner = absolute(words.shift() ?? "", context.origin);
  if (context.owner === null) throw new BadValue("The first record has no name");
  const ttl = readTtl(words);
  const type = words.shift()?.toUpperCase();
  if (type === undefined) throw new BadValue("There is a name and no record");
  const { read, write } = recordType(type);
  context.lastTtl = ttl ?? context.defaultTtl ?? context.lastTtl;
  if (context.lastTtl === null) throw new BadValue("There is no time to live, neither here nor as $TTL");
  const value = write(read(presentationOf(type, words, context.origin)));
  const name = writeName(readOwner(context.owner)).slice(0, -1);
  return { name, type, ttl: context.lastTtl, value };
}

function direct(words: readonly string[], context: Context): null {
  const [directive, value, more] = words;
  if (value === undefined || more !== undefined) throw new BadValue(`${directive} has exactly one value`);
  if (directive === "$TTL") context.defaultTtl = timeOf(value);
  else if (directive === "$ORIGIN") context.origin = absolute(value, context.origin);
  else throw new BadValue(`${directive} is not taken here; $TTL and $ORIGIN are`);
  return null;
}

/** Takes time to live and class, which come in any order, off the words. */
function readTtl(words: string[]): number | null {
  let ttl: number | null = null;
  for (;;) {
    const [word = ""] = words;
    if (ttl === null && time.test(word)) ttl = timeOf(word);
    else if (/^(CH|HS|CS)$/i.test(word)) throw new BadValue(`There are no records of class ${word}`);
    else if (!/^IN$/i.test(word)) return ttl;
    words.shift();
  }
}

function presentationOf(type: string, words: readonly string[], origin: string): string {
  // Each word is a text of its own there, whether in quotation marks or not.
  if (type === "TXT" || type === "SPF") {
    return words.map((word) => (word.startsWith('"') ? word : `"${word}"`)).join(" ");
  }
  return words
    .map((word, index) => {
      if (namesAt[type]?.includes(index)) return absolute(word, origin);
      return timesAt[type]?.includes(index) ? `${timeOf(word)}` : word;
    })
    .join(" ");
}

function absolute(word: string, origin: string): string {
  if (word === "@") return origin;
  if (word.endsWith(".")) return word;
  return origin === "." ? `${word}.` : `${word}.${origin}`;
}

/** In seconds. Throws `BadValue`. */
function timeOf(word: string): number {
  if (!time.test(word)) throw new BadValue(`${word} is not a time, such as 3600 or 1h`);
  const parts = word.toLowerCase().match(/\d+[smhdw]?/g) ?? [];
  const sum = parts.reduce((total, part) => total + Number.parseInt(part, 10) * (seconds[part.slice(-1)] ?? 1), 0);
  if (sum > mostTtl) throw new BadValue(`${word} is longer than ${mostTtl} seconds`);
  return sum;
}
