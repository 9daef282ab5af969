/**
 * Compares versions of plugins, themes, WordPress and PHP as WordPress does (with PHP's `version_compare`).
 *
 * A version is a sequence of numbers and words. `dev`, `alpha`, `beta` and `RC` sort before the end of a version, numbers and
 * patches (`pl`) after it, and any other word before all of them. The key of a version sorts in this order as plain bytes, for
 * example in a database.
 */

/** Longer texts are not versions. */
const maxLength = 60;
/** Digits to which numbers are padded. Longer numbers are cut. */
const digits = 20;

/** Beginnings of words and their sort order; case-sensitive, as in PHP. */
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

/** The sort key of any text. The key of an empty text sorts before all others. */
export function versionKey(version: string): string {
  const parts = version
    .slice(0, maxLength)
    .replaceAll(/[^0-9A-Za-z]+/g, ".")
    .replaceAll(/(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)/g, ".")
    .split(".")
    .filter((part) => part !== "");
  return parts.length === 0 ? "" : `${parts.map(weight).join("")}${end}`;
}

/** Negative if `one` is older than `other`. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [versionKey(one), versionKey(other)];
  return a < b ? -1 : Number(a > b);
}
