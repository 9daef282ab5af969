/** Which cached pages to purge. */
import { readPath, splitTarget } from "../http/path.ts";
import type { PageAddress } from "../visit/pageRequest.ts";
import { isWithin } from "./cachedPage.ts";

/** Absolute URLs, or paths with their query. Host names are ignored, because a site may have several. */
export interface PurgeScope {
  readonly urls: readonly string[];
  /** Purges these and everything below them. */
  readonly subtrees: readonly string[];
  readonly everything: boolean;
}

/** Whether the page at this address is to be purged. */
export type IsPurged = (address: PageAddress) => boolean;

/** A URL that can't be parsed purges everything, because the sender did mean some page. */
export function readPurgeScope({ urls, subtrees, everything }: PurgeScope): IsPurged {
  const [pages, trees] = [urls.map(pageAddressOf), subtrees.map(pageAddressOf)];
  if (everything || [...pages, ...trees].includes(null)) return () => true;
  return (address) =>
    pages.some((wanted) => wanted !== null && isWithin(address, wanted, false)) ||
    trees.some((wanted) => wanted !== null && isWithin(address, wanted, true));
}

function pageAddressOf(address: string): PageAddress | null {
  const path = readPath(splitTarget(address).url.split("#", 1)[0] ?? "");
  return path === null ? null : { segments: path.segments, query: path.query };
}
