/** The short name of a site: a slug of its display name that is also a DNS label. */
import slugify from "@sindresorhus/slugify";

const maxLength = 30;

/** At most 30 characters of `a-z`, `0-9` and inner hyphens; `fallback` if nothing of the display name remains. */
export function slugOf(displayName: string, fallback = "site"): string {
  const slug = slugify(displayName, { decamelize: false }).replace(/[^a-z0-9-]+/g, "-");
  return trimHyphens(trimHyphens(slug).slice(0, maxLength)) || fallback;
}

/** The slug with the numbers `from` to `to` appended (nothing for 1), at most as long as a slug. */
export function numberedNames(slug: string, from: number, to: number): string[] {
  const names = [];
  for (let number = from; number <= to; number += 1) {
    const ending = number === 1 ? "" : `-${number}`;
    names.push(trimHyphens(slug.slice(0, maxLength - ending.length)) + ending);
  }
  return names;
}

function trimHyphens(text: string): string {
  return text.replace(/^-+|-+$/g, "");
}
