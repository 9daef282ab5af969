/**
 * Parses the path of a request line and decodes it exactly once.
 *
 * Ambiguous paths count as malformed, because the file system or PHP may interpret them differently: `..` in any
 * encoding, backslashes, NUL and other control characters, and broken escapes.
 */
import { isUtf8 } from "node:buffer";

export interface VisitorPath {
  /** Path and query as sent, always with a leading slash. */
  readonly url: string;
  /** With the question mark, or the empty string. */
  readonly query: string;
  /** Decoded, without empty segments. */
  readonly segments: readonly string[];
  readonly trailingSlash: boolean;
  /** Whether the decoded bytes are UTF-8. If not, no file can have this name, but WordPress may know the URL. */
  readonly isUtf8: boolean;
}

const unescaped = /^[\w\-./~!$&'()*+,;=:@]*$/;
const brokenEscape = /%(?![0-9a-f]{2})/i;
const escaped = /%([0-9a-f]{2})/gi;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
const ambiguous = /[\x00-\x1f\x7f\\]/;

const absoluteForm = /^https?:\/\/([^/?#]*)([/?].*)?$/i;

/**
 * Splits the absolute form (`GET http://host/path`), whose host overrides the header. `host` is null for other forms.
 */
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
    isUtf8: decoded.utf8,
  };
}

/** Encodes decoded segments as a path with one leading slash. */
export function encodePath(segments: readonly string[]): string {
  return `/${segments.map(encodeURIComponent).join("/")}`;
}

function decode(encoded: string): { text: string; utf8: boolean } | null {
  if (unescaped.test(encoded)) return { text: encoded, utf8: true };
  if (brokenEscape.test(encoded)) return null;
  const bytes = Buffer.from(unescapeOnce(encoded), "latin1");
  const utf8 = isUtf8(bytes);
  const text = bytes.toString(utf8 ? "utf8" : "latin1");
  return ambiguous.test(text) ? null : { text, utf8 };
}

/** Decodes escapes. Node gives the request line as one character per byte, and so does the result. */
function unescapeOnce(text: string): string {
  return text.replace(escaped, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** A remaining percent sign may be harmless (`100%25-wool`), but not if decoding it again would give a `..`. */
function hidesTraversal(text: string): boolean {
  if (!text.includes("%")) return false;
  const again = unescapeOnce(text);
  if (ambiguous.test(again)) return true;
  return again.split("/").some((segment) => segment === "." || segment === "..");
}
