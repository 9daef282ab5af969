/** Where a rule leads: a path of the same name, or an http(s) address, with `$1` for what a group of `from` found. */
import { BadRule } from "./rule.ts";

export const longestTo = 2_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unsendable = /[\x00-\x20\x7f\\]/;
const address = /^https?:\/\/(?<authority>[^/?#$]*)/i;
const reference = /\$(\d{1,2})/g;

/** `groups` is how many `from` has. Throws `BadRule`. */
export function checkTo(to: string, groups: number): void {
  if (to === "" || to.length > longestTo) throw new BadRule("to", `must have 1 to ${longestTo} characters`);
  if (unsendable.test(to)) throw new BadRule("to", "must be without spaces, backslashes and control characters");
  const authority = address.exec(to)?.groups?.authority;
  if (authority === undefined) {
    if (!to.startsWith("/") || to.startsWith("//")) {
      throw new BadRule("to", "must begin with one slash, or with http:// or https:// and a name");
    }
  } else checkAuthority(authority);
  for (const [whole, number] of to.matchAll(reference)) {
    if (Number(number) > groups) throw new BadRule("to", `must not have ${whole}: from has ${groups} groups`);
  }
}

/** Of the request nothing gets into the name: who decides it is who made the rule. */
function checkAuthority(authority: string): void {
  const url = `http://${authority}/`;
  if (authority === "" || authority.includes("@") || !URL.canParse(url)) {
    throw new BadRule("to", "must name a host behind http:// or https://, without a user and without a group");
  }
}

/** `groups` as `match` gives them; `query` as the visitor sent it, with its question mark. */
export function expand(to: string, groups: readonly string[], query: string): string {
  const base = address.exec(to)?.[0] ?? "";
  const filled = to.slice(base.length).replace(reference, (_, number: string) => encode(groups[Number(number)] ?? ""));
  // A group must not become part of the name before it, nor a name where there was none.
  const path = base === "" || /^[^/?#]/.test(filled) ? `/${filled.replace(/^\/+/, "")}` : filled;
  return toAscii(base) + withQuery(toAscii(path), query);
}

function withQuery(path: string, query: string): string {
  if (query.length <= 1) return path;
  const mark = path.indexOf("#");
  const [before, after] = mark === -1 ? [path, ""] : [path.slice(0, mark), path.slice(mark)];
  return `${before}${before.includes("?") ? "&" : "?"}${query.slice(1)}${after}`;
}

/** Decoded text as part of a path. What is no pair of surrogates is replaced. */
function encode(text: string): string {
  return encodeURI(text.toWellFormed()).replace(/[?#]/g, encodeURIComponent);
}

/** Headers take nothing else. */
function toAscii(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}
