/**
 * Parses and checks the `from` of a redirect rule. A text that starts with a slash and has no special characters is a
 * path. Everything else is an RE2 regular expression, which always matches in time linear in the length of the path.
 */
import { RE2JS, RE2Set } from "re2js";
import { canMatch, type Exclusion, exclusions } from "./matchable.ts";
import { BadRule } from "./rule.ts";

const maxFromLength = 1_000;
/** Longer paths are not matched against expressions. */
const maxMatchedPathLength = 2_048;
/** Limit for the compiled expression: `(a{30}){30}` is short, but compiles to a large program. */
const maxProgramSize = 1_000;

const expressionCharacters = /[\\^$*+?()[\]{}|]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
const control = /[\x00-\x1f\x7f]/;
/** A question mark that is meant as one, although it makes the character before it optional in an expression. */
const withQuery = /^\^?\/(?:[^\\^$*+()[\]{}|?]|\\[./_-])*\?[\w%[\].-]+=/;
/** What paths don't have, and what to write instead. */
const impossible: Readonly<Record<Exclusion, string>> = {
  query: "must not contain a query: rules match paths only, and keep the visitor's query",
  twoSlashes:
    "must not contain a host name or two slashes in a row: send the host name as domain, and here only the path",
  noFirstSlash: "must not begin without a slash: paths begin with one, so write ^/old instead of ^old",
  escapes: "must not contain escapes: paths are compared decoded, so write é instead of %C3%A9",
};

type From = PathFrom | ExpressionFrom;

interface PathFrom {
  readonly kind: "path";
  /** Decoded, without a trailing slash. */
  readonly path: string;
}

export interface ExpressionFrom {
  readonly kind: "expression";
  /** The start of every matching path; empty if unknown. */
  readonly prefix: string;
  /** The whole match and its groups, or null if the path doesn't match. Compiles on first use. */
  readonly match: (path: string) => readonly string[] | null;
}

/** Parses a `from` without compiling expressions. */
export function readFrom(from: string): From {
  if (from.startsWith("/") && !expressionCharacters.test(from)) return { kind: "path", path: readPathText(from) };
  let compiled: RE2JS | null = null;
  const match = (path: string) => {
    if (path.length > maxMatchedPathLength) return null;
    compiled ??= RE2JS.compile(from);
    const matcher = compiled.matcher(path);
    if (!matcher.find()) return null;
    return Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? "");
  };
  return { kind: "expression", prefix: literalPrefix(from), match };
}

/**
 * Returns a function that finds the indexes of all expressions that may match a path, in one pass. Compiles on first
 * use.
 */
export function createExpressionSet(expressions: readonly string[]): (path: string) => readonly number[] {
  let compiled: RE2Set | null = null;
  return (path) => {
    if (expressions.length === 0 || path.length > maxMatchedPathLength) return [];
    if (compiled === null) {
      compiled = new RE2Set();
      for (const expression of expressions) compiled.add(expression);
      compiled.compile();
    }
    return compiled.match(path).toSorted((a: number, b: number) => a - b);
  };
}

/** Checks a `from` and returns how many groups `to` may use. Throws `BadRule`. */
export function checkFrom(from: string): number {
  if (from === "" || from.length > maxFromLength)
    throw new BadRule("from", `must have 1 to ${maxFromLength} characters`);
  if (control.test(from)) throw new BadRule("from", "must not contain control characters");
  if (withQuery.test(from)) throw new BadRule("from", impossible.query);
  if (readFrom(from).kind === "path") return 0;
  const compiled = compile(from);
  if (compiled.programSize() > maxProgramSize)
    throw new BadRule("from", "must be a simpler expression: it is too large when compiled");
  refuseUnmatchable(compiled);
  return compiled.groupCount();
}

/** Throws `BadRule` if the expression can't match any path. */
function refuseUnmatchable(compiled: RE2JS): void {
  if (canMatch(compiled, exclusions)) return;
  const excluded = canMatch(compiled, []) ? exclusions.find((one) => !canMatch(compiled, [one])) : undefined;
  throw new BadRule(
    "from",
    excluded === undefined ? "must match at least one path, such as ^/$" : impossible[excluded],
  );
}

function compile(from: string): RE2JS {
  try {
    return RE2JS.compile(from);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BadRule(
      "from",
      `must be a path that starts with a slash or a regular expression in RE2 syntax: ${reason}`,
    );
  }
}

/** Removes the trailing slash, which makes no difference for rules. */
export function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function readPathText(from: string): string {
  const single = from.replace(/\/{2,}/g, "/");
  try {
    return withoutTrailingSlash(decodeURIComponent(single));
  } catch {
    return withoutTrailingSlash(single);
  }
}

/** The literal characters after `^`, up to the first special one. */
function literalPrefix(from: string): string {
  if (!from.startsWith("^") || hasAlternatives(from)) return "";
  let prefix = "";
  for (let at = 1; at < from.length; ) {
    const piece = /^(?:[\w/\-~%@!,;:=&' ]|\\[./\-_~])/.exec(from.slice(at, at + 2))?.[0];
    if (piece === undefined) break;
    at += piece.length;
    if (/^[*?{]/.test(from.slice(at, at + 1))) break;
    prefix += piece.slice(-1);
  }
  return prefix;
}

/** Whether there may be a `|` outside groups. */
function hasAlternatives(from: string): boolean {
  let depth = 0;
  const plain = from.replace(/\\./g, "").replace(/\[[^\]]*\]/g, "");
  for (const sign of plain) {
    if (sign === "(") depth += 1;
    if (sign === ")") depth -= 1;
    if (sign === "|" && depth <= 0) return true;
  }
  return false;
}
