/**
 * ETags of files, and the conditions that visitors make with them (RFC 9110, sections 8.8 and 13).
 *
 * A strong ETag promises identical bytes, so that a download can be resumed. It has the time of the last change, which
 * programs can't set. It is weak as long as another change could fall into the same tick of the file system's clock.
 * Compressed content has weak ETags, because the next version of the library may compress differently.
 */
import type { Encoding } from "../http/encodings.ts";
import type { VisitorRequest } from "../http/visitorHttp.ts";
import type { FileVersion } from "../tables/fileLookup.ts";

type Headers = VisitorRequest["headers"];

/** Longer than a tick of any clock in use, which is 10 ms. Without fractions the file system counts whole seconds, or two. */
const tickMilliseconds = { fine: 20, coarse: 2_000 };

/** `now` is in milliseconds since 1970. */
export function etagOf({ size, modified, changed }: FileVersion, now: number): string {
  const tag = `"${[size, modified * 1_000, changed * 1_000].map((part) => Math.floor(part).toString(36)).join("-")}"`;
  const tick = changed % 1_000 === 0 ? tickMilliseconds.coarse : tickMilliseconds.fine;
  return now - changed < tick ? `W/${tag}` : tag;
}

/** The ETag of the same file in this encoding. */
export function etagIn(encoding: Encoding, etag: string): string {
  return `W/${withoutPrefix(etag).slice(0, -1)}-${encoding}"`;
}

/**
 * Whether an If-None-Match has the file, in whichever encoding. The time of the last change makes no difference here: a
 * restored copy has another one, but the same length, content and modification time.
 */
export function isKnown(ifNoneMatch: string, etag: string): boolean {
  const plain = (tag: string) =>
    withoutPrefix(tag.trim())
      .replace(/(?:-(?:br|zstd|gzip))?"$/, "")
      .replace(/-\w+$/, "");
  return ifNoneMatch.trim() === "*" || ifNoneMatch.split(",").some((tag) => plain(tag) === plain(etag));
}

/** Last-Modified in milliseconds since 1970: it has whole seconds. */
export function lastModifiedOf({ modified }: FileVersion): number {
  return Math.floor(modified / 1_000) * 1_000;
}

/**
 * Evaluates the conditions with ETags for a library that has none. Returns the request's headers with those conditions that it
 * can evaluate, with the same result.
 */
export function withoutEtags(headers: Headers, version: FileVersion, etag: string): Headers {
  const left = { ...headers };
  const { "if-match": match, "if-none-match": noneMatch, "if-range": ifRange } = headers;
  if (match !== undefined) delete left["if-unmodified-since"];
  if (match !== undefined && isIn(match, etag)) delete left["if-match"];
  if (noneMatch !== undefined) {
    delete left["if-modified-since"];
    if (isKnown(noneMatch, etag)) left["if-none-match"] = "*";
    else delete left["if-none-match"];
  }
  delete left["if-range"];
  if (ifRange !== undefined && !isUnchanged(`${ifRange}`, version, etag)) delete left.range;
  return left;
}

/** Whether an If-Match has exactly these bytes. */
function isIn(ifMatch: string, etag: string): boolean {
  return isStrong(etag) && ifMatch.split(",").some((tag) => tag.trim() === etag);
}

function isUnchanged(ifRange: string, version: FileVersion, etag: string): boolean {
  if (ifRange.includes('"')) return isStrong(etag) && ifRange.trim() === etag;
  return Date.parse(ifRange) === lastModifiedOf(version);
}

function isStrong(etag: string): boolean {
  return !etag.startsWith("W/");
}

function withoutPrefix(etag: string): string {
  return etag.replace(/^W\//, "");
}
