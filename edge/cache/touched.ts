/** Which cached pages a change has made old. */
import { readPath, splitTarget } from "../http/path.ts";
import { isAt } from "./cachedPage.ts";
import type { PageAddress } from "./pageAsk.ts";

/** Absolute addresses, or paths with their query; the name of the site in them is not looked at: it may have several. */
export interface Touched {
  readonly urls: readonly string[];
  /** Everything below these. */
  readonly subtrees: readonly string[];
  readonly everything: boolean;
}

/** Of a site's addresses by number, no page is made, and other fields would make none. */
export type IsTouched = (place: PageAddress) => boolean;

/** An address that can't be parsed clears everything, because it meant something to its sender. */
export function readTouched({ urls, subtrees, everything }: Touched): IsTouched {
  const [pages, trees] = [urls.map(placeOf), subtrees.map(placeOf)];
  if (everything || [...pages, ...trees].includes(null)) return () => true;
  return (place) =>
    pages.some((wanted) => wanted !== null && isAt(place, wanted, false)) ||
    trees.some((wanted) => wanted !== null && isAt(place, wanted, true));
}

function placeOf(address: string): PageAddress | null {
  const path = readPath(splitTarget(address).url.split("#", 1)[0] ?? "");
  return path === null ? null : { segments: path.segments, query: path.query };
}
