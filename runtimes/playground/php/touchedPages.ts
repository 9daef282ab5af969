/**
 * What the platform's own PHP (`platform/touching.php`) tells of the request under way. A site's code can tell the same: it
 * only ever speaks of its own pages.
 */
import type { Touched } from "../../serving.ts";

export interface TouchedPages {
  /** From now on it is told of this request. */
  begin(listener: TouchedListener): void;
  /** Takes a message as PHP sent it; ignores what it does not know. */
  receive(message: string): void;
}

export interface TouchedListener {
  touched(touched: Touched): void;
  /** The answer is for this visitor alone. */
  isPrivate(): void;
}

/** More than the platform's own script ever sends. */
const mostAddresses = 1_000;
const longestAddress = 2_000;
const longestMessage = 1 << 20;

export function createTouchedPages(): TouchedPages {
  let current: TouchedListener | null = null;
  return {
    begin: (listener) => {
      current = listener;
    },
    receive: (message) => {
      const told = message.length > longestMessage ? null : parse(message);
      if (told?.sitewright === "private") current?.isPrivate();
      if (told?.sitewright === "touched") current?.touched(readTouched(told));
    },
  };
}

function parse(message: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(message);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

function readTouched({ urls, subtrees, everything }: Readonly<Record<string, unknown>>): Touched {
  const [pages, trees] = [addresses(urls), addresses(subtrees)];
  if (everything === true || pages === null || trees === null) return { urls: [], subtrees: [], everything: true };
  return { urls: pages, subtrees: trees, everything: false };
}

/** Null if it is not a list of addresses. */
function addresses(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > mostAddresses) return null;
  const texts = value.filter((one) => typeof one === "string" && one.length <= longestAddress);
  return texts.length === value.length ? texts : null;
}
