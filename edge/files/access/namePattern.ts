/** The names that `<Files>` and `<FilesMatch>` mean. */
import { RE2JS } from "re2js";

export interface NamePattern {
  matches(name: string): boolean;
  /** Work for each character of a name, and memory. 0 for a plain name. */
  readonly instructions: number;
}

/**
 * Reads a regular expression, or a name with the wildcards of a shell. Null if it can't be read, for example because it
 * looks ahead.
 */
export type ReadNamePattern = (pattern: string, isExpression: boolean) => NamePattern | null;

/** Patterns in a file. Far more than people write. */
const maxPatterns = 100;
/** Estimated instructions of all patterns in a file, since compiling takes time: `(a{30}){30}` is short, but large. */
const maxEstimate = 10_000;
/** Of one pattern. */
const maxInstructions = 1_000;

/** A reader for the patterns of one file. Expressions are of customers, so they run in linear time, as redirect rules do. */
export function createPatternReader(): ReadNamePattern {
  let [patterns, estimate] = [0, 0];
  return (pattern, isExpression) => {
    patterns += 1;
    estimate += estimateOf(pattern);
    if (patterns > maxPatterns || estimate > maxEstimate) return null;
    if (!isExpression && !/[*?[\\]/.test(pattern)) return { matches: (name) => name === pattern, instructions: 0 };
    return compile(isExpression ? pattern : `^${expressionOf(pattern)}$`);
  };
}

/** As if all repetitions were within each other. */
function estimateOf(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d+))?/g)].map(([, least, most]) => Number(most ?? least));
  return counts.reduce((product, count) => product * Math.max(count, 1), pattern.length);
}

function compile(expression: string): NamePattern | null {
  try {
    const compiled = RE2JS.compile(expression);
    const instructions = compiled.programSize();
    if (instructions > maxInstructions) return null;
    return { matches: (name) => compiled.matcher(name).find(), instructions };
  } catch {
    return null;
  }
}

function expressionOf(wildcards: string): string {
  return wildcards.replace(/\[!?([^\]]+)\]|\\?./gs, (piece, characters?: string) => {
    if (characters !== undefined) return `[${piece.startsWith("[!") ? "^" : ""}${characters.replace(/\\/g, "\\\\")}]`;
    if (piece === "*") return ".*";
    return piece === "?" ? "." : RE2JS.quote(piece.length > 1 ? piece.slice(1) : piece);
  });
}
