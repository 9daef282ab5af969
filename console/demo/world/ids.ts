/** Ids of things, and numbers that look accidental but are the same each time. */

/** A new UUID. */
export const newId = (): string => crypto.randomUUID();

/** A hash of the text, from 0 up to 1. The same text has the same one. */
export function chanceOf(text: string): number {
  let hash = 2_166_136_261;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 2_246_822_507);
  hash = Math.imul(hash ^ (hash >>> 13), 3_266_489_909);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** The UUID of something that is there from the beginning, so that its address stays right when the page is loaded again. */
export function idOf(name: string): string {
  const digits = [0, 1, 2, 3].map((part) =>
    Math.floor(chanceOf(`${name} ${part}`) * 2 ** 32)
      .toString(16)
      .padStart(8, "0"),
  );
  const all = digits.join("");
  return `${all.slice(0, 8)}-${all.slice(8, 12)}-4${all.slice(13, 16)}-a${all.slice(17, 20)}-${all.slice(20)}`;
}
