/**
 * Reads the vulnerability feed of Wordfence Intelligence (production): one JSON object with a record for each id. It is too
 * large for memory (150 MB and more), so records are extracted from the stream by their braces, and parsed one by one.
 */
import * as v from "valibot";

/** Affected versions of a package. */
export interface AffectedRange {
  readonly kind: "plugin" | "theme";
  readonly slug: string;
  /** Null: no lower bound. */
  readonly from: string | null;
  readonly isFromIncluded: boolean;
  /** Null: no upper bound. */
  readonly to: string | null;
  readonly isToIncluded: boolean;
  /** The oldest patched version, or null if there is none. */
  readonly patched: string | null;
}

export interface Advisory {
  readonly id: string;
  readonly title: string;
  /** Null if the feed has none. */
  readonly cve: string | null;
  /** CVSS score from 0 to 10. Null if the feed has none. */
  readonly score: number | null;
  readonly reference: string | null;
  readonly ranges: readonly AffectedRange[];
}

/** The feed as a whole can't be read. */
export class InvalidFeed extends Error {
  override readonly name = "InvalidFeed";
}

const maxTextLength = 2_000;
const maxRecordBytes = 5_000_000;

const [quote, backslash, open, close, openList, closeList] = Array.from('"\\{}[]', (sign) => sign.charCodeAt(0));

/** State of the scanner. */
interface Scan {
  depth: number;
  isInText: boolean;
  isEscaped: boolean;
}

/**
 * Yields those values of the outermost object that are objects or lists, as bytes; null for a value that is too large. Throws
 * `InvalidFeed` if the stream is not a JSON object or is truncated.
 */
export async function* recordsIn(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null> {
  const scan: Scan = { depth: 0, isInText: false, isEscaped: false };
  /** Parts of the current record in earlier chunks. */
  let parts: Buffer[] = [];
  let bytes = 0;
  let isComplete = false;
  let hasStarted = false;
  for await (const chunk of stream) {
    let start = scan.depth >= 2 ? 0 : -1;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (scan.isInText) {
        // Fast path: strings are most of a feed.
        if (scan.isEscaped) scan.isEscaped = false;
        else if (byte === backslash) scan.isEscaped = true;
        else if (byte === quote) scan.isInText = false;
        continue;
      }
      if (byte === quote) scan.isInText = true;
      else if (byte === open || byte === openList) {
        if (!hasStarted && byte !== open) throw new InvalidFeed("The feed is not a JSON object.");
        hasStarted = true;
        scan.depth += 1;
        if (scan.depth === 2) start = at;
      } else if (byte === close || byte === closeList) {
        scan.depth -= 1;
        if (scan.depth === 1) {
          const last = chunk.subarray(start, at + 1);
          yield bytes + last.length > maxRecordBytes
            ? null
            : parts.length === 0
              ? last
              : Buffer.concat([...parts, last]);
          [parts, bytes, start] = [[], 0, -1];
        }
        if (scan.depth === 0) isComplete = true;
      } else if (!hasStarted && byte !== undefined && byte > 0x20 && byte < 0x80) {
        throw new InvalidFeed("The feed is not a JSON object.");
      }
    }
    if (start >= 0 && scan.depth >= 2) {
      const rest = chunk.subarray(start);
      bytes += rest.length;
      // Copied, because the stream may reuse its memory.
      if (bytes <= maxRecordBytes) parts.push(Buffer.from(rest));
      else parts = [];
    }
  }
  if (!isComplete) throw new InvalidFeed("The feed is truncated.");
}

const text = v.pipe(v.string(), v.maxLength(maxTextLength));
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

/** Means no limit in a feed. */
const any = "*";

const orNull = (value: string) => (value === any ? null : value);

/** Null if the record is invalid. */
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
    // WordPress itself is not handled here.
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
  const reference = references.find((one) => /^https?:\/\//.test(one) && one.length <= maxTextLength) ?? null;
  return { id, title, cve, score: cvss?.score ?? null, reference, ranges };
}
