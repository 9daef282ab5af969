/** The `to` of a redirect rule: a path on the same host or an HTTP(S) URL, with `$1` for a group of `from`. */
import { BadRule } from "./rule.ts";

const maxToLength = 2_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
const unsendable = /[\x00-\x20\x7f\\]/;
const address = /^https?:\/\/(?<authority>[^/?#$]*)/i;
const reference = /\$(\d{1,2})/g;

/** `groups` is the number of groups in `from`. Throws `BadRule`. */
export function checkTo(to: string, groups: number): void {
  if (to === "" || to.length > maxToLength) throw new BadRule("to", `must have 1 to ${maxToLength} characters`);
  if (unsendable.test(to)) throw new BadRule("to", "must not contain spaces, backslashes or control characters");
  const authority = address.exec(to)?.groups?.authority;
  if (authority === undefined) {
    if (!to.startsWith("/") || to.startsWith("//")) {
      throw new BadRule("to", "must start with a single slash, or with http:// or https:// and a host name");
    }
  } else checkAuthority(authority);
  for (const [whole, number] of to.matchAll(reference)) {
    if (Number(number) > groups)
      throw new BadRule("to", `must not contain ${whole}: the number of groups in from is ${groups}`);
  }
}

/** The host must be fixed: no part of a request may choose where visitors are sent. */
function checkAuthority(authority: string): void {
  const url = `http://${authority}/`;
  if (authority === "" || authority.includes("@") || !URL.canParse(url)) {
    throw new BadRule("to", "must have a host name after http:// or https://, without user name and without groups");
  }
}

/** Fills in the groups and appends the visitor's query, which starts with its question mark or is empty. */
export function expand(to: string, groups: readonly string[], query: string): string {
  const base = address.exec(to)?.[0] ?? "";
  const filled = to.slice(base.length).replace(reference, (_, number: string) => encode(groups[Number(number)] ?? ""));
  // A group must not extend the host name, nor turn a path into a URL with a host.
  const path = base === "" || /^[^/?#]/.test(filled) ? `/${filled.replace(/^\/+/, "")}` : filled;
  return toAscii(base) + withQuery(toAscii(path), query);
}

function withQuery(path: string, query: string): string {
  if (query.length <= 1) return path;
  const mark = path.indexOf("#");
  const [before, after] = mark === -1 ? [path, ""] : [path.slice(0, mark), path.slice(mark)];
  return `${before}${before.includes("?") ? "&" : "?"}${query.slice(1)}${after}`;
}

/** Encodes text for a path. Lone surrogates are replaced. */
function encode(text: string): string {
  return encodeURI(text.toWellFormed()).replace(/[?#]/g, encodeURIComponent);
}

/** Encodes everything but visible ASCII, because headers allow nothing else. */
function toAscii(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}
