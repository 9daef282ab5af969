/**
 * A feed of vulnerabilities in the form of Wordfence Intelligence (production): one object with a record for each, by its id. It is
 * larger than anybody wants in memory (150 MB and more), so that records are cut out of the stream one by one, by their
 * braces, and only each of them is read as JSON. A record that is broken, or of another form, is counted and left out.
 */
import * as v from "valibot";

/** Versions of one package that a vulnerability is in. */
export interface AffectedRange {
  readonly kind: "plugin" | "theme";
  readonly slug: string;
  /** Null: from the first one on. */
  readonly from: string | null;
  readonly isFromIncluded: boolean;
  /** Null: up to the newest. */
  readonly to: string | null;
  readonly isToIncluded: boolean;
  /** The oldest version that is said to be mended; null: none is. */
  readonly patched: string | null;
}

export interface Advisory {
  readonly id: string;
  readonly title: string;
  /** Null: none was given. */
  readonly cve: string | null;
  /** CVSS, from 0 to 10; null: none was given. */
  readonly score: number | null;
  readonly reference: string | null;
  readonly ranges: readonly AffectedRange[];
}

/** Not even the beginning is one. */
export class NoFeed extends Error {
  override readonly name = "NoFeed";
}

const longest = 2_000;
/** Maximum length of a description. */
const mostRecordBytes = 5_000_000;

const [quote, backslash, open, close, openList, closeList] = Array.from('"\\{}[]', (sign) => sign.charCodeAt(0));

/** Where a scan has come to. */
interface Scan {
  depth: number;
  isInText: boolean;
  isEscaped: boolean;
}

/**
 * Values of the outermost object that are objects themselves, as bytes; null if one is longer than any record. Throws
 * `NoFeed` where the stream is no object, or breaks off.
 */
export async function* recordsIn(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null> {
  const scan: Scan = { depth: 0, isInText: false, isEscaped: false };
  /** Parts of the record that is being read, before this chunk. */
  let parts: Buffer[] = [];
  let bytes = 0;
  let isWhole = false;
  let hasBegun = false;
  for await (const chunk of stream) {
    let start = scan.depth >= 2 ? 0 : -1;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (scan.isInText) {
        // From one quote to the next, which is most of a feed, nothing else matters.
        if (scan.isEscaped) scan.isEscaped = false;
        else if (byte === backslash) scan.isEscaped = true;
        else if (byte === quote) scan.isInText = false;
        continue;
      }
      if (byte === quote) scan.isInText = true;
      else if (byte === open || byte === openList) {
        if (!hasBegun && byte !== open) throw new NoFeed("The feed is not one object.");
        hasBegun = true;
        scan.depth += 1;
        if (scan.depth === 2) start = at;
      } else if (byte === close || byte === closeList) {
        scan.depth -= 1;
        if (scan.depth === 1) {
          const last = chunk.subarray(start, at + 1);
          yield bytes + last.length > mostRecordBytes
            ? null
            : parts.length === 0
              ? last
              : Buffer.concat([...parts, last]);
          [parts, bytes, start] = [[], 0, -1];
        }
        if (scan.depth === 0) isWhole = true;
      } else if (!hasBegun && byte !== undefined && byte > 0x20 && byte < 0x80) {
        throw new NoFeed("The feed is not one object.");
      }
    }
    if (start >= 0 && scan.depth >= 2) {
      const rest = chunk.subarray(start);
      bytes += rest.length;
      // A copy: the stream may use its memory again.
      if (bytes <= mostRecordBytes) parts.push(Buffer.from(rest));
      else parts = [];
    }
  }
  if (!isWhole) throw new NoFeed("The feed breaks off.");
}

const text = v.pipe(v.string(), v.maxLength(longest));
const version = v.pipe(v.string(), v.minLength(1), v.maxLength(100));

const record = v.object({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  title: text,
  cve: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(100))), null),
  cvss: v.optional(v.nullable(v.object({ score: v.optional(v.nullable(v.number()), null) })), null),
  references: v.optional(v.array(v.string()), []),
  software: v.array(
    v.object({
      type: v.string(),
      slug: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
      affected_versions: v.record(
        v.string(),
        v.object({
          from_version: version,
          from_inclusive: v.boolean(),
          to_version: version,
          to_inclusive: v.boolean(),
        }),
      ),
      patched_versions: v.optional(v.array(version), []),
    }),
  ),
});

/** In a feed it stands for no limit. */
const any = "*";

const orNull = (value: string) => (value === any ? null : value);

/** Null if it is none, or is not understood. */
export function readAdvisory(bytes: Buffer): Advisory | null {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
  const read = v.safeParse(record, value);
  if (!read.success) return null;
  const { id, title, cve, cvss, references, software } = read.output;
  const ranges = software.flatMap(({ type, slug, affected_versions, patched_versions }): AffectedRange[] => {
    // WordPress itself is none of them: who runs it here is another matter.
    if (type !== "plugin" && type !== "theme") return [];
    const kind: AffectedRange["kind"] = type;
    return Object.values(affected_versions).map((range) => ({
      kind,
      slug: slug.toLowerCase(),
      from: orNull(range.from_version),
      isFromIncluded: range.from_inclusive,
      to: orNull(range.to_version),
      isToIncluded: range.to_inclusive,
      patched: patched_versions[0] ?? null,
    }));
  });
  const reference = references.find((one) => /^https?:\/\//.test(one) && one.length <= longest) ?? null;
  return { id, title, cve, score: cvss?.score ?? null, reference, ranges };
}
