/**
 * Versions of plugins, themes, WordPress and PHP in the order in which WordPress has them (PHP's `version_compare`).
 *
 * A version is a row of numbers and words. `dev`, `alpha`, `beta` and `RC` come before the end of a version, numbers and
 * patches (`pl`) after it, and any other word before all of them. Whoever has many versions to compare, a database above all, has a key
 * made of each: keys are in that order as plain bytes.
 */

/** Longer texts are not versions. */
const longest = 60;
/** More digits than any number has that fits into a version. */
const digits = 20;

/** What a word begins with, in capitals or small letters as PHP has them. */
const words = [
  ["dev", "1"],
  ["a", "2"],
  ["b", "3"],
  ["RC", "4"],
  ["rc", "4"],
  ["p", "7"],
] as const;
const otherWord = "0";
const end = "5";
const number = "6";

function weight(part: string): string {
  if (/^\d+$/.test(part))
    return `${number}${part
      .replace(/^0+(?=\d)/, "")
      .padStart(digits, "0")
      .slice(-digits)}`;
  return words.find(([word]) => part.startsWith(word))?.[1] ?? otherWord;
}

/** Of any text; of one that is empty, a key that is before that of any version. */
export function versionKey(version: string): string {
  const parts = version
    .slice(0, longest)
    .replaceAll(/[^0-9A-Za-z]+/g, ".")
    .replaceAll(/(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)/g, ".")
    .split(".")
    .filter((part) => part !== "");
  return parts.length === 0 ? "" : `${parts.map(weight).join("")}${end}`;
}

/** Below zero where `one` is the older. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [versionKey(one), versionKey(other)];
  return a < b ? -1 : Number(a > b);
}
