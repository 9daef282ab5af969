/** Which cached pages to purge. */
import { readPath, splitTarget } from "../http/path.ts";
import type { PageAddress } from "../visit/pageRequest.ts";
import { isWithin } from "./cachedPage.ts";
import { pageQuery } from "./query.ts";
import { hasTagOf, type PageTags } from "./tags.ts";

/** Absolute URLs, or paths with their query. Host names are ignored, because a site may have several. */
export interface PurgeScope {
  readonly urls: readonly string[];
  /** Purges these and everything below them. */
  readonly subtrees: readonly string[];
  /** Also purges pages that have one of these tags, or whose tags are not known. */
  readonly tags: readonly string[];
  readonly everything: boolean;
}

/** Whether the page is to be purged. The tags of a page that is being rendered are not known. */
export type IsPurged = (page: { readonly address: PageAddress; readonly tags: PageTags }) => boolean;

/** A URL that can't be parsed purges everything, because the sender did mean some page. */
export function readPurgeScope({ urls, subtrees, tags, everything }: PurgeScope): IsPurged {
  const pages = readAddresses(urls);
  const trees = readAddresses(subtrees);
  if (everything || pages === null || trees === null) return () => true;
  return ({ address, tags: shown }) =>
    hasTagOf(shown, tags) ||
    pages.some((wanted) => isWithin(address, wanted, false)) ||
    trees.some((wanted) => isWithin(address, wanted, true));
}

/** Null if one of them can't be parsed. */
function readAddresses(urls: readonly string[]): readonly PageAddress[] | null {
  const read = urls.flatMap((url) => pageAddressOf(url) ?? []);
  return read.length === urls.length ? read : null;
}

function pageAddressOf(address: string): PageAddress | null {
  const path = pathOf(address);
  return path === null ? null : { segments: path.segments, query: path.query };
}

function pathOf(address: string) {
  return readPath(splitTarget(address).url.split("#", 1)[0] ?? "");
}

/** Returns the paths with query, as in `PageRequest`, of those URLs that may be cached. */
export function pageUrlsOf({ urls }: PurgeScope): readonly string[] {
  return urls.flatMap((url) => {
    const path = pathOf(url);
    const query = path === null ? null : pageQuery(path.query);
    return path === null || query === null ? [] : [`${path.url.split("?", 1)[0]}${query}`];
  });
}
