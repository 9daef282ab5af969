/** Which kept pages a change has made old. */
import { readPath, splitTarget } from "../http/path.ts";
import { isAt } from "./cachedPage.ts";
import type { PagePlace } from "./pageAsk.ts";

/** Absolute addresses, or paths with their query; the name of the site in them is not looked at: it may have several. */
export interface Touched {
  readonly urls: readonly string[];
  /** Everything below these. */
  readonly subtrees: readonly string[];
  readonly everything: boolean;
}

/** Of a site's addresses by number, no page is made, and other fields would make none. */
export type IsTouched = (place: PagePlace) => boolean;

/** An address that can't be read touches everything: whoever named it meant something. */
export function readTouched({ urls, subtrees, everything }: Touched): IsTouched {
  const [pages, trees] = [urls.map(placeOf), subtrees.map(placeOf)];
  if (everything || [...pages, ...trees].includes(null)) return () => true;
  return (place) =>
    pages.some((wanted) => wanted !== null && isAt(place, wanted, false)) ||
    trees.some((wanted) => wanted !== null && isAt(place, wanted, true));
}

function placeOf(address: string): PagePlace | null {
  const path = readPath(splitTarget(address).url.split("#", 1)[0] ?? "");
  return path === null ? null : { segments: path.segments, query: path.query };
}
