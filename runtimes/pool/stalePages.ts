/** Merges reports of outdated pages. */
import type { StalePages } from "../serving.ts";

export const noStalePages: StalePages = { urls: [], subtrees: [], tags: [], everything: false };

export function mergeStalePages(one: StalePages, other: StalePages): StalePages {
  if (one.everything || other.everything) return { urls: [], subtrees: [], tags: [], everything: true };
  return {
    urls: [...new Set([...one.urls, ...other.urls])],
    subtrees: [...new Set([...one.subtrees, ...other.subtrees])],
    tags: [...new Set([...one.tags, ...other.tags])],
    everything: false,
  };
}
