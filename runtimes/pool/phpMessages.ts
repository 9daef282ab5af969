/**
 * Messages of the platform's PHP about the current request (`platform/messages.php`): the pages that it has changed, and what its
 * own page shows. A site's code can send the same messages; they affect only its own pages.
 */
import type { StalePages } from "../serving.ts";

interface PhpMessages {
  /** Starts a request: from now on `listener` gets the messages. `order`: the input of the task that it runs. */
  begin(listener: PhpMessageListener, order?: string | null): void;
  /** Handles a message from PHP. Ignores unknown messages. Returns the answer, which is usually empty. */
  receive(message: string): string;
}

export interface PhpMessageListener {
  onStalePages(pages: StalePages): void;
  /** The response is for this visitor only. */
  isPrivate(): void;
  /** A WP-CLI command has written only what no page shows (`platform/wpCliHousekeeping.php`). */
  onlyHousekeeping?(): void;
  /** The tags of everything that the page shows. Null: unknown. */
  shows(tags: readonly string[] | null): void;
  /** The script has ended: its last message, before which `shows` may be called. `hasFailed`: with an error. */
  ended?(hasFailed: boolean): void;
  /** A change of the database was refused, because it is read-only. */
  refused?(): void;
}

/** The platform's own script sends fewer. */
const maxAddresses = 1_000;
const maxAddressLength = 2_000;
const maxMessageLength = 1 << 18;
/** Of one request. Beyond them, its page is private, and everything is outdated. */
const maxMessages = 2_000;
/** A page that shows more is outdated by any change. */
const maxTags = 500;
const tagForm = /^[#\w-]{1,64}$/;

export function createPhpMessages(): PhpMessages {
  let current: PhpMessageListener | null = null;
  let waitingOrder: string | null = null;
  let count = 0;

  /** Only the first script that asks gets the order, which is the platform's own. */
  function takeOrder(): string {
    const order = waitingOrder ?? "";
    waitingOrder = null;
    return order;
  }

  /** Whether there are too many messages, which only a script of the site's own sends. */
  function isTooMany(): boolean {
    count += 1;
    if (count === maxMessages) {
      current?.isPrivate();
      current?.onStalePages({ urls: [], subtrees: [], tags: [], everything: true });
    }
    return count >= maxMessages;
  }

  return {
    begin: (listener, order = null) => {
      current = listener;
      waitingOrder = order;
      count = 0;
    },
    receive: (message) => {
      const parsed = isTooMany() || message.length > maxMessageLength ? null : parse(message);
      if (parsed?.sitewright === "order") return takeOrder();
      if (parsed?.sitewright === "housekeeping") current?.onlyHousekeeping?.();
      if (parsed?.sitewright === "private") current?.isPrivate();
      const isLast = parsed?.sitewright === "ended";
      if (parsed?.sitewright === "shows" || (isLast && "tags" in parsed)) current?.shows(readTags(parsed.tags));
      if (isLast) current?.ended?.(parsed.failed !== false);
      if (parsed?.sitewright === "refused") current?.refused?.();
      if (parsed?.sitewright === "touched") current?.onStalePages(readStalePages(parsed));
      return "";
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

function readStalePages({ urls, subtrees, tags, everything }: Readonly<Record<string, unknown>>): StalePages {
  const [pages, trees, names] = [addresses(urls), addresses(subtrees), readTags(tags)];
  if (everything === true || pages === null || trees === null || names === null)
    return { urls: [], subtrees: [], tags: [], everything: true };
  return { urls: pages, subtrees: trees, tags: names, everything: false };
}

/** Returns a list of tags, or null if it is not one. */
function readTags(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > maxTags) return null;
  const tags = value.filter((one) => typeof one === "string" && tagForm.test(one));
  return tags.length === value.length ? tags : null;
}

/** Returns a list of addresses, or null if it is not one. */
function addresses(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > maxAddresses) return null;
  const texts = value.filter((one) => typeof one === "string" && one.length <= maxAddressLength);
  return texts.length === value.length ? texts : null;
}
