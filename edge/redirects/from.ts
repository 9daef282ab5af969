/**
 * What a rule's `from` stands for. A text that begins with a slash and has nothing of an expression in it is a path;
 * anything else is an expression of RE2, whose matching takes time linear in the path, whatever the expression.
 */
import { RE2JS, RE2Set } from "re2js";
import { BadRule } from "./rule.ts";

export const longestFrom = 1_000;
/** Longer ones are not held against expressions. */
export const longestMatchedPath = 2_048;
/** Of the compiled program: `(a{30}){30}` is short and grows. */
const mostInstructions = 1_000;

const expressionSigns = /[\\^$*+?()[\]{}|]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\x00-\x1f\x7f]/;
const withQuery = /^\/[^\\^$*+()[\]{}|?]*\?[\w%[\].-]+=/;

export type From = PathFrom | ExpressionFrom;

export interface PathFrom {
  readonly kind: "path";
  /** Decoded, without a slash at the end. */
  readonly path: string;
}

export interface ExpressionFrom {
  readonly kind: "expression";
  /** What every path begins with that fits; empty if nothing is known. */
  readonly prefix: string;
  /** The groups of what fits, the whole of it first; null if the path does not fit. Compiles when it is first called. */
  readonly match: (path: string) => readonly string[] | null;
}

/** Does not compile an expression. */
export function readFrom(from: string): From {
  if (from.startsWith("/") && !expressionSigns.test(from)) return { kind: "path", path: readLiteral(from) };
  let compiled: RE2JS | null = null;
  const match = (path: string) => {
    if (path.length > longestMatchedPath) return null;
    compiled ??= RE2JS.compile(from);
    const matcher = compiled.matcher(path);
    if (!matcher.find()) return null;
    return Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? "");
  };
  return { kind: "expression", prefix: prefixOf(from), match };
}

/** Finds in one go which of the expressions, by their places, may fit a path. Compiles when it is first asked. */
export function createSieve(expressions: readonly string[]): (path: string) => readonly number[] {
  let compiled: RE2Set | null = null;
  return (path) => {
    if (expressions.length === 0 || path.length > longestMatchedPath) return [];
    if (compiled === null) {
      compiled = new RE2Set();
      for (const expression of expressions) compiled.add(expression);
      compiled.compile();
    }
    return compiled.match(path).toSorted((a: number, b: number) => a - b);
  };
}

/** Returns how many groups `to` may name. Throws `BadRule`. */
export function checkFrom(from: string): number {
  if (from === "" || from.length > longestFrom) throw new BadRule("from", `must have 1 to ${longestFrom} characters`);
  if (control.test(from)) throw new BadRule("from", "must be without control characters");
  if (withQuery.test(from)) throw new BadRule("from", "must be without a query: rules look at paths, and keep queries");
  if (readFrom(from).kind === "path") return 0;
  const compiled = compile(from);
  if (compiled.programSize() > mostInstructions) throw new BadRule("from", "must be a smaller expression");
  return compiled.groupCount();
}

function compile(from: string): RE2JS {
  try {
    return RE2JS.compile(from);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BadRule("from", `must be a path that begins with a slash, or an expression of RE2: ${reason}`);
  }
}

/** A path means the same with and without a slash at its end. */
export function withoutEnd(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function readLiteral(from: string): string {
  const single = from.replace(/\/{2,}/g, "/");
  try {
    return withoutEnd(decodeURIComponent(single));
  } catch {
    return withoutEnd(single);
  }
}

/** Letters that stand for themselves behind a `^`, up to the first that may not. */
function prefixOf(from: string): string {
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

/** Whether there may be a `|` outside of groups. */
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
