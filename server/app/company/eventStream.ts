/**
 * The events of a company as the text of one stream of server-sent events.
 *
 * The number of an event is its id. Each client continues after the number that it sends, or now. Nothing is kept for a slow client:
 * it takes what it needs from the feed, or from the database if it is further behind.
 */
import { newestRemovedEvent, readEvents } from "@sitewright/server/store/company/events.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import { type Caller, sitesInScope } from "./access.ts";
import { type EventFeed, type EventFeeds, eventText, type FeedEvent } from "./eventFeeds.ts";

interface EventStreamOptions {
  readonly database: Database;
  readonly feeds: EventFeeds;
  readonly caller: Caller;
  /** The caller as they are now, or null if they may no longer follow the events. */
  readonly callerNow: () => Promise<Caller | null>;
  /** The number after which the client continues, or null for now. Not a number: unknown. */
  readonly after: number | null;
  /** Whether to wait for new events after those that there are. */
  readonly isEndless: boolean;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
}

/** How soon clients connect again, in milliseconds. */
const reconnectMilliseconds = 2_000;
const pageLength = 500;

/** Begins a stream. Throws `TooManyStreams`, or rejects if the database can't be reached. */
export async function openEventStream(options: EventStreamOptions): Promise<AsyncIterable<string>> {
  const { feeds, caller, signal } = options;
  const news = makeNews();
  const listener = { keyId: caller.keyId, wake: news.wake, doubt: news.doubt };
  const leave = () => {
    feeds.leave(caller.companyId, listener);
    news.wake(false);
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    const feed = await feeds.join(caller.companyId, listener);
    if (signal.aborted) leave();
    return follow(options, news, feed, options.after ?? feed().last);
  } catch (error) {
    leave();
    throw error;
  }
}

/** What a stream has been told since it last looked. */
interface News {
  isDoubtful: boolean;
  isBeat: boolean;
  readonly wake: (isBeat: boolean) => void;
  readonly doubt: () => void;
  /** Resolves at once if it was woken since the last call. */
  readonly wait: () => Promise<void>;
}

function makeNews(): News {
  let next = Promise.withResolvers<void>();
  const news: News = {
    isDoubtful: false,
    isBeat: false,
    wake(isBeat) {
      news.isBeat ||= isBeat;
      // A session may have expired, or a notification may have been lost with its connection.
      news.isDoubtful ||= isBeat;
      next.resolve();
    },
    doubt() {
      news.isDoubtful = true;
      next.resolve();
    },
    async wait() {
      await next.promise;
      next = Promise.withResolvers<void>();
    },
  };
  return news;
}

async function* follow(
  options: EventStreamOptions,
  news: News,
  feed: () => EventFeed,
  start: number,
): AsyncGenerator<string> {
  const { callerNow, after, isEndless, signal } = options;
  let caller: Caller | null = options.caller;
  let cursor = start;
  /** The number after which the client would continue. */
  let told = start;
  yield `retry: ${reconnectMilliseconds}\n${after === null ? `id: ${cursor}\n` : ""}\n`;
  for (;;) {
    if (news.isDoubtful) {
      news.isDoubtful = false;
      caller = await callerNow();
    }
    if (signal.aborted || caller === null || hasExpired(caller)) return;
    const found = await eventsAfter(cursor, options, sitesInScope(caller), feed);
    // The caller may have lost a permission while they were read.
    if (news.isDoubtful) continue;
    if (found === null) {
      cursor = feed().last;
      told = cursor;
      yield resetText(cursor);
    } else if (found.upTo > cursor) {
      cursor = found.upTo;
      if (found.text === "") continue;
      told = cursor;
      yield found.text;
    } else if (!isEndless) {
      // Otherwise it would seem to have missed events of others that are no longer kept.
      if (told < cursor) yield `id: ${cursor}\n\n`;
      return;
    } else if (news.isBeat) {
      news.isBeat = false;
      yield `id: ${cursor}\n\n`;
    } else {
      await news.wait();
    }
  }
}

const hasExpired = ({ expiresAt }: Caller): boolean => expiresAt !== null && expiresAt.getTime() <= Date.now();

interface Found {
  /** Has no events that the caller does not see. */
  readonly text: string;
  /** The number up to which it has all of them. */
  readonly upTo: number;
}

/** Returns the next events after a number, or null if some of them are not kept any more, or the number is unknown. */
async function eventsAfter(
  cursor: number,
  { database, caller }: EventStreamOptions,
  siteIds: readonly string[] | null,
  feed: () => EventFeed,
): Promise<Found | null> {
  const { last, since, recent } = feed();
  if (!(cursor <= last)) return null;
  if (cursor >= since) {
    const next = recent.slice(recent.findLastIndex(({ number }) => number <= cursor) + 1);
    const seen = next.filter((event) => isOn(siteIds, event));
    return { text: seen.map(({ text }) => text).join(""), upTo: last };
  }
  const range = { companyIds: [caller.companyId], siteIds, after: cursor, upTo: last, limit: pageLength };
  const events = await readEvents(database, range);
  // Looked up afterwards, because events may be removed meanwhile.
  if (cursor < (await newestRemovedEvent(database))) return null;
  const upTo = events.length < pageLength ? last : (events.at(-1)?.number ?? last);
  return { text: events.map(eventText).join(""), upTo };
}

const isOn = (siteIds: readonly string[] | null, { site_id: siteId }: FeedEvent): boolean =>
  siteIds === null || (siteId !== null && siteIds.includes(siteId));

/** Tells the client to read everything again. */
function resetText(cursor: number): string {
  const body = JSON.stringify({ type: "reset", timestamp: new Date().toISOString(), data: {} });
  return `id: ${cursor}\nevent: reset\ndata: ${body}\n\n`;
}
