/**
 * Reads a zone file (RFC 1035, section 5; `$TTL` by RFC 2308), as BIND, panels and other providers write it. Lines that
 * are right but can't be used here are skipped and listed with the reason. A line that is wrong is an error, and no part of
 * the file is used then.
 */
import { readOwner, root, truncateForMessage, writeName } from "../names.ts";
import { BadValue } from "../records/badValue.ts";
import { isSupportedType, readTypeName, recordType } from "../records/recordTypes.ts";
import type { DnsRecordSet } from "../table.ts";
import { BadZoneFile, readEntries, type ZoneFileEntry } from "./entries.ts";
import { readGenerate } from "./generate.ts";
import { absoluteName, absoluteTarget } from "./names.ts";
import { parseTime, timePattern } from "./times.ts";
import { absoluteValue } from "./values.ts";

export interface ZoneFileRecord {
  /** In lower case, without the final dot. */
  readonly name: string;
  readonly type: string;
  /** In seconds. */
  readonly ttl: number;
  /** In canonical form. */
  readonly value: string;
  readonly line: number;
}

export interface SkippedEntry {
  readonly line: number;
  /** Its words, without comments. */
  readonly text: string;
  /** A sentence without the final full stop. */
  readonly reason: string;
}

export interface ZoneFile {
  /** In the order of the file, including SOA and NS. */
  readonly records: readonly ZoneFileRecord[];
  readonly skipped: readonly SkippedEntry[];
}

interface Options {
  /** The zone that contains the origin, if it is another one. */
  readonly parent?: string;
  /** The reason to skip a record before its value is read, or null. */
  skip?(place: { readonly name: string; readonly type: string }): string | null;
  /** Whether a name could be in public DNS. Absent: all names in values without a final dot are in the zone. */
  isPublicName?(name: string): boolean;
  /** Names that are in the zone already, in lower case, without the final dot. */
  readonly names?: Iterable<string>;
}

/** For files that have no time to live at all. */
const usualTtl = 3_600;
/** Characters of the lines that all `$GENERATE` together make. */
const maxGenerated = 1_000_000;

interface Context extends Options {
  origin: string;
  isOriginSet: boolean;
  /** In lower case, without the final dot. */
  readonly zones: readonly string[];
  /** Names in the zone, in lower case, without the final dot. */
  readonly owners: Set<string>;
  owner: string | null;
  defaultTtl: number | null;
  lastTtl: number | null;
  generated: number;
}

type Skip = Pick<SkippedEntry, "reason">;
/** A record whose value has not been read, because names in it depend on all others in the file. */
interface Unread extends Omit<ZoneFileRecord, "line" | "value"> {
  readonly words: readonly string[];
  readonly origin: string;
}
type Read = Unread | Skip;

/** `origin` is the zone's name. Throws `BadZoneFile`. */
export function readZoneFile(text: string, origin: string, options: Options = {}): ZoneFile {
  const context = startOf(origin, options);
  const unread: (Unread & { readonly line: number })[] = [];
  const skipped: SkippedEntry[] = [];
  for (const entry of readEntries(text)) {
    const { line } = entry;
    for (const read of atLine(line, () => readEntry(entry, context))) {
      if (!("reason" in read)) unread.push({ ...read, line });
      // The records of `$GENERATE` are one line.
      else if (skipped.at(-1)?.line !== line) skipped.push({ line, text: entry.words.join(" "), ...read });
    }
  }
  return { records: unread.map((record) => readValue(record, context)), skipped };
}

function readValue(
  { line, words, origin, ...record }: Unread & { readonly line: number },
  context: Context,
): ZoneFileRecord {
  const { zones, owners, isPublicName } = context;
  const known = { has: (name: string) => owners.has(name), isPublic: (name: string) => isPublicName?.(name) ?? false };
  const { read, write } = recordType(record.type);
  const absolute = (word: string) => absoluteTarget(word, origin, zones, known);
  return { ...record, line, value: atLine(line, () => write(read(absoluteValue(record.type, words, absolute)))) };
}

function startOf(origin: string, options: Options): Context {
  const zones = [origin, options.parent ?? origin].map((zone) => zone.toLowerCase().replace(/\.$/, ""));
  const start = { isOriginSet: false, owner: null, defaultTtl: null, lastTtl: null, generated: 0 };
  return { ...options, ...start, origin: `${zones[0]}.`, zones, owners: new Set(options.names) };
}

/** Combines records of the same name and type. If their times to live differ, the shortest one counts (RFC 2181, 5.2). */
export function toRecordSets(records: readonly ZoneFileRecord[]): DnsRecordSet[] {
  const sets = Map.groupBy(records, ({ name, type }) => `${name} ${type}`);
  return [...sets.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const ttl = group.reduce((shortest, record) => Math.min(shortest, record.ttl), first.ttl);
    return { name: first.name, type: first.type, ttl, values: [...new Set(group.map(({ value }) => value))] };
  });
}

function atLine<Result>(line: number, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadValue) throw new BadZoneFile(line, error.message);
    throw error;
  }
}

function readEntry({ words, isContinued }: ZoneFileEntry, context: Context): readonly Read[] {
  const [directive = "", ...rest] = words;
  if (!directive.startsWith("$")) return [readRecord(words, isContinued, context)];
  const name = directive.toUpperCase();
  switch (name) {
    case "$GENERATE":
      return generate(rest, context);
    case "$TTL":
      context.defaultTtl = parseTime(onlyWord(name, rest));
      return [];
    case "$ORIGIN":
      context.origin = absolute(onlyWord(name, rest), context);
      context.isOriginSet = true;
      return [];
    case "$INCLUDE":
      return [{ reason: "Other files can't be included. Import their records too" }];
    default:
      return [{ reason: `The directive ${truncateForMessage(name)} is not supported` }];
  }
}

function onlyWord(directive: string, [word, more]: readonly string[]): string {
  if (word === undefined || more !== undefined) throw new BadValue(`${directive} must have exactly one value`);
  return word;
}

function generate(words: readonly string[], context: Context): readonly Read[] {
  const { count, records } = readGenerate(words);
  context.generated += count * words.join(" ").length;
  if (context.generated > maxGenerated)
    return [{ reason: `$GENERATE can make at most ${maxGenerated} characters in a file` }];
  return [...records()].map((record) => readRecord(record, false, context));
}

function readRecord(written: readonly string[], isContinued: boolean, context: Context): Read {
  const words = [...written];
  if (!isContinued) context.owner = absolute(withWildcard(words.shift() ?? ""), context);
  const { owner } = context;
  if (owner === null) throw new BadValue("The first record has no name");
  const { ttl, otherClass } = readTtlAndClass(words);
  const typeWord = words.shift();
  if (typeWord === undefined) throw new BadValue("There is a name but no record");
  if (otherClass !== null) return { reason: `Records of class ${truncateForMessage(otherClass)} are not supported` };
  const type = readTypeName(typeWord);
  if (type === "SOA") startZone(owner, words, context);
  context.lastTtl = ttl ?? context.defaultTtl ?? context.lastTtl;
  const name = nameOrReason(owner);
  if (typeof name !== "string") return name;
  context.owners.add(name);
  const reason = context.skip?.({ name, type }) ?? reasonToSkip(type, words);
  if (reason !== null) return { reason };
  return { name, type, ttl: context.lastTtl ?? usualTtl, words, origin: context.origin };
}

/** Route 53 writes `*` as an escape. */
function withWildcard(name: string): string {
  return name.replace(/^\\052(?=\.|$)/, "*");
}

/**
 * The name of the SOA record is the zone's. The domain may be below it; names in the file are relative to the zone then.
 * Without any other time to live, the last number of the record is the usual one.
 */
function startZone(owner: string, words: readonly string[], context: Context): void {
  const isBelow = owner.endsWith(`.${context.origin}`);
  if (!context.isOriginSet && !isBelow && owner !== ".") context.origin = owner;
  const usual = words.at(6) ?? "";
  if (timePattern.test(usual)) context.lastTtl ??= parseTime(usual);
}

function nameOrReason(owner: string): string | Skip {
  try {
    const name = readOwner(owner);
    return name === root ? "." : writeName(name).slice(0, -1);
  } catch (error) {
    if (error instanceof BadValue) return { reason: error.message };
    throw error;
  }
}

function reasonToSkip(type: string, words: readonly string[]): string | null {
  if (!isSupportedType(type)) return `Records of type ${truncateForMessage(type)} are not supported`;
  // GoDaddy writes `Parked` or `WebsiteBuilder Site` for addresses of its own.
  const isPlaceholder = type === "A" && words.length > 0 && words.every((word) => /^[a-z]+$/i.test(word));
  return isPlaceholder ? `${truncateForMessage(words.join(" "))} stands for an address of the previous provider` : null;
}

/** Removes time to live, class, and the age that Windows writes, in any order, from the start of the words. */
function readTtlAndClass(words: string[]): { readonly ttl: number | null; readonly otherClass: string | null } {
  let [ttl, otherClass]: [number | null, string | null] = [null, null];
  for (;;) {
    const [word = ""] = words;
    if (ttl === null && timePattern.test(word)) ttl = parseTime(word);
    else if (/^(?:CH|HS|CS|CLASS\d+)$/i.test(word) && !/^CLASS1$/i.test(word)) otherClass = word.toUpperCase();
    else if (!/^(?:IN|CLASS1|\[AGE:\d+\])$/i.test(word)) return { ttl, otherClass };
    words.shift();
  }
}

function absolute(word: string, { origin, zones }: Context): string {
  return absoluteName(word, origin, zones);
}
