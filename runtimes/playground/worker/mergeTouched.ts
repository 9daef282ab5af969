/** Merges reports of outdated pages. */
import type { Touched } from "../../serving.ts";

export const nothingTouched: Touched = { urls: [], subtrees: [], everything: false };

export function mergeTouched(one: Touched, other: Touched): Touched {
  if (one.everything || other.everything) return { urls: [], subtrees: [], everything: true };
  return {
    urls: [...new Set([...one.urls, ...other.urls])],
    subtrees: [...new Set([...one.subtrees, ...other.subtrees])],
    everything: false,
  };
}
