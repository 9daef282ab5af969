/** Merges reports of outdated pages. */
import type { StalePages } from "../serving.ts";

export const noStalePages: StalePages = { urls: [], subtrees: [], tags: [], everything: false };

/** The report of a request with more is that everything is outdated. */
const maxAddresses = 2_000;

const everything: StalePages = { urls: [], subtrees: [], tags: [], everything: true };
const sizeOf = ({ urls, subtrees, tags }: StalePages) => urls.length + subtrees.length + tags.length;

export function mergeStalePages(one: StalePages, other: StalePages): StalePages {
  if (one.everything || other.everything || sizeOf(one) + sizeOf(other) > maxAddresses) return everything;
  return {
    urls: [...new Set([...one.urls, ...other.urls])],
    subtrees: [...new Set([...one.subtrees, ...other.subtrees])],
    tags: [...new Set([...one.tags, ...other.tags])],
    everything: false,
  };
}
