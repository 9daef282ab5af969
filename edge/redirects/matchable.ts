/**
 * Whether an expression can match any path at all. One for a query, such as `^/index\.php\?p=1$`, would be accepted and never
 * met; so would one for a whole URL, and one for a path without its first slash, as in Apache's `.htaccess`.
 *
 * The compiled program is followed together with the form of paths: they begin with a slash, and have no question mark, no
 * two slashes in a row and no escapes, because the edge compares decoded paths. The program is internal to `re2js`, whose
 * version is pinned; the tests notice if it changes.
 */
import type { RE2JS } from "re2js";

/** What the form of paths excludes. */
export const exclusions = ["query", "twoSlashes", "noFirstSlash", "escapes"] as const;
export type Exclusion = (typeof exclusions)[number];

interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(rune: number): boolean;
}

const ops = { alternatives: [1, 2], empty: 4, fail: 5, match: 6, rune: 8, oneRune: 9, anyRunes: [10, 11] };
const needsStart = 0b0101;
const needsEnd = 0b1010;

/** The last character of the path so far, as far as it decides what may follow. */
type Last = "nothing" | "slash" | "percent" | "percentAndDigit" | "other";
const allLast: readonly Last[] = ["nothing", "slash", "percent", "percentAndDigit", "other"];

type Character = "slash" | "question" | "percent" | "hexDigit" | "other";
const special = [
  ["slash", runesOf("/")],
  ["question", runesOf("?")],
  ["percent", runesOf("%")],
  ["hexDigit", runesOf("0123456789ABCDEFabcdef")],
] as const;

interface Position {
  readonly at: number;
  readonly last: Last;
  /** Whether the path must end here. */
  readonly isEnd: boolean;
}

/** Whether the expression matches a path of that form. */
export function canMatch(compiled: RE2JS, excluded: readonly Exclusion[]): boolean {
  const { inst, start }: { readonly inst: readonly Instruction[]; readonly start: number } = compiled.re2().prog;
  // The match may begin anywhere in the path.
  const waiting: Position[] = allLast.map((last) => ({ at: start, last, isEnd: false }));
  const seen = new Set<number>();
  for (let position = waiting.pop(); position !== undefined; position = waiting.pop()) {
    const { at, last, isEnd } = position;
    const key = (at * allLast.length + allLast.indexOf(last)) * 2 + Number(isEnd);
    const instruction = inst[at];
    if (seen.has(key) || instruction === undefined) continue;
    seen.add(key);
    if (instruction.op === ops.match && !(isEnd && last === "nothing")) return true;
    waiting.push(...next(instruction, position, excluded));
  }
  return false;
}

function next(instruction: Instruction, position: Position, excluded: readonly Exclusion[]): readonly Position[] {
  const { op, out, arg } = instruction;
  const { last, isEnd } = position;
  if (op === ops.fail || op === ops.match) return [];
  const characters = charactersOf(instruction);
  if (characters !== null) {
    if (isEnd) return [];
    return characters.flatMap((character) => {
      const after = lastAfter(last, character, excluded);
      return after === null ? [] : { at: out, last: after, isEnd };
    });
  }
  const here = { ...position, at: out };
  if (ops.alternatives.includes(op)) return [here, { ...position, at: arg }];
  if (op !== ops.empty) return [here];
  if ((arg & needsStart) !== 0 && last !== "nothing") return [];
  return [{ ...here, isEnd: isEnd || (arg & needsEnd) !== 0 }];
}

/** Null if no path has the character there. */
function lastAfter(last: Last, character: Character, excluded: readonly Exclusion[]): Last | null {
  const isExcluded =
    (character === "question" && excluded.includes("query")) ||
    (character === "slash" && last === "slash" && excluded.includes("twoSlashes")) ||
    (character !== "slash" && last === "nothing" && excluded.includes("noFirstSlash")) ||
    (character === "hexDigit" && last === "percentAndDigit" && excluded.includes("escapes"));
  if (isExcluded) return null;
  if (character === "hexDigit") return last === "percent" ? "percentAndDigit" : "other";
  return character === "question" ? "other" : character;
}

/** The kinds of characters that an instruction accepts, or null if it is no character. */
function charactersOf(instruction: Instruction): readonly Character[] | null {
  const { op, runes } = instruction;
  if (ops.anyRunes.includes(op)) return ["slash", "question", "percent", "hexDigit", "other"];
  if (op !== ops.rune && op !== ops.oneRune) return null;
  const [single] = Array.from(runes);
  // The other case of a letter is of the same kind.
  if (runes.length === 1 && single !== undefined) return [kindOf(single)];
  let others = countOf(runes);
  const kinds: Character[] = [];
  for (const [kind, ofKind] of special) {
    const accepted = ofKind.filter((rune) => instruction.matchRune(rune)).length;
    if (accepted > 0) kinds.push(kind);
    others -= accepted;
  }
  return others > 0 ? [...kinds, "other"] : kinds;
}

function kindOf(rune: number): Character {
  return special.find(([, ofKind]) => ofKind.includes(rune))?.[0] ?? "other";
}

/** The number of characters in ranges. */
function countOf(runes: ArrayLike<number>): number {
  let count = 0;
  for (let index = 0; index + 1 < runes.length; index += 2) count += (runes[index + 1] ?? 0) - (runes[index] ?? 0) + 1;
  return count;
}

function runesOf(characters: string): readonly number[] {
  return [...characters].map((character) => character.codePointAt(0) ?? 0);
}
