/**
 * From the request line to the folders and the file that it names, decoded exactly once.
 *
 * Whatever has two readings is malformed here, because the next one to read it (the file system, PHP) may
 * choose the other: `..` in any spelling, backslashes, NUL and other control characters, a broken escape.
 */
import { isUtf8 } from "node:buffer";

export interface VisitorPath {
  /** Path and query as sent, always with a leading slash. */
  readonly url: string;
  /** With the question mark, or the empty string. */
  readonly query: string;
  /** Decoded, without empty ones. */
  readonly segments: readonly string[];
  readonly trailingSlash: boolean;
  /** False if the decoded bytes are no UTF-8: no file has such a name, but WordPress may know the address. */
  readonly lookable: boolean;
}

const plain = /^[\w\-./~!$&'()*+,;=:@]*$/;
const brokenEscape = /%(?![0-9a-f]{2})/i;
const escaped = /%([0-9a-f]{2})/gi;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ambiguous = /[\x00-\x1f\x7f\\]/;

const absoluteForm = /^https?:\/\/([^/?#]*)([/?].*)?$/i;

/** Splits the absolute form (`GET http://host/path`), whose host stands above the header. Null `host`: the header counts. */
export function splitTarget(target: string): { readonly host: string | null; readonly url: string } {
  if (target.startsWith("/")) return { host: null, url: target };
  const parts = absoluteForm.exec(target);
  if (parts === null) return { host: null, url: target };
  const rest = parts[2] ?? "/";
  return { host: parts[1] ?? "", url: rest.startsWith("?") ? `/${rest}` : rest };
}

/** Null if the path is malformed. */
export function readPath(url: string): VisitorPath | null {
  if (!url.startsWith("/") || url.includes("#")) return null;
  const mark = url.indexOf("?");
  const encoded = mark === -1 ? url : url.slice(0, mark);
  const decoded = decode(encoded);
  if (decoded === null || hidesTraversal(decoded.text)) return null;
  const segments = decoded.text.split("/").filter((segment) => segment !== "");
  if (segments.some((segment) => segment === "." || segment === "..")) return null;
  return {
    url,
    query: mark === -1 ? "" : url.slice(mark),
    segments,
    trailingSlash: decoded.text.endsWith("/"),
    lookable: decoded.utf8,
  };
}

/** Encodes decoded segments as a path with one leading slash. */
export function encodePath(segments: readonly string[]): string {
  return `/${segments.map(encodeURIComponent).join("/")}`;
}

function decode(encoded: string): { text: string; utf8: boolean } | null {
  if (plain.test(encoded)) return { text: encoded, utf8: true };
  if (brokenEscape.test(encoded)) return null;
  const bytes = Buffer.from(unescapeOnce(encoded), "latin1");
  const utf8 = isUtf8(bytes);
  const text = bytes.toString(utf8 ? "utf8" : "latin1");
  return ambiguous.test(text) ? null : { text, utf8 };
}

/** Node hands the request line over with one character per byte, so this stays one character per byte. */
function unescapeOnce(text: string): string {
  return text.replace(escaped, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** A percent sign that is left may be honest (`100%25-wool`); one that would become a way up on a second reading isn't. */
function hidesTraversal(text: string): boolean {
  if (!text.includes("%")) return false;
  const again = unescapeOnce(text);
  if (ambiguous.test(again)) return true;
  return again.split("/").some((segment) => segment === "." || segment === "..");
}
