/** Values in zone files: names in them may be relative, and times may have units. */
import { isGeneric } from "../records/generic.ts";
import { parseTime } from "./times.ts";

/** Indexes of the words of a value that are names and may be relative. */
const namesAt: Readonly<Record<string, readonly number[]>> = {
  NS: [0],
  CNAME: [0],
  PTR: [0],
  MX: [1],
  SRV: [3],
  SVCB: [1],
  HTTPS: [1],
  NAPTR: [5],
  SOA: [0, 1],
};
/** Indexes of the words of a value that are times and may be written as `1h`. */
const timesAt: Readonly<Record<string, readonly number[]>> = { SOA: [3, 4, 5, 6] };

/** The value with absolute names. Throws `BadValue`. */
export function absoluteValue(type: string, words: readonly string[], absolute: (word: string) => string): string {
  const value = words.join(" ");
  if (isGeneric(value)) return value;
  if (type === "TXT" || type === "SPF") return words.flatMap(textsOf).join(" ");
  return words
    .map((word, index) => {
      if (namesAt[type]?.includes(index)) return absolute(word);
      return timesAt[type]?.includes(index) ? `${parseTime(word)}` : word;
    })
    .join(" ");
}

/** In zone files each word is a separate text, quoted or not; of `key="text"` both parts are. */
function textsOf(word: string): string[] {
  if (word.startsWith('"')) return [word];
  const [, bare = word, quoted] = /^((?:[^"\\]|\\.)*)(".*)$/su.exec(word) ?? [];
  return quoted === undefined ? [`"${bare}"`] : [`"${bare}"`, quoted];
}
