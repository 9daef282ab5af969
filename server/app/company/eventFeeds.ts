/**
 * The events that clients of this process follow.
 *
 * A commit that adds events notifies each process. It then reads them once for all its streams, however many there are, and keeps
 * the newest ones of each company that has a stream. Nothing is read while there are no streams. A stream that needs older ones
 * reads them itself.
 */
import { keysChangedChannel } from "@sitewright/server/store/company/apiKeys.ts";
import {
  type EventRecord,
  eventAddedChannel,
  numberEvents,
  readEvents,
} from "@sitewright/server/store/company/events.ts";
import type { Database } from "@sitewright/server/store/database.ts";
import type { Notifications } from "@sitewright/server/store/notifications.ts";
import type { Logger } from "pino";
import { TooManyStreams } from "../failures.ts";

/** An event as all streams send it. */
export interface FeedEvent extends Pick<EventRecord, "number" | "site_id"> {
  readonly text: string;
}

/** The newest events of a company. */
export interface EventFeed {
  /** The newest number that was read, of any company. */
  readonly last: number;
  /** `recent` has all events after this number. */
  readonly since: number;
  readonly recent: readonly FeedEvent[];
}

export interface EventListener {
  readonly keyId: string;
  /** Called when there may be events, and regularly to show that the connection is alive. */
  readonly wake: (isBeat: boolean) => void;
  /** Called when keys or users of the company have changed: the listener gets nothing more before it has looked. */
  readonly doubt: () => void;
}

export interface EventFeeds {
  /**
   * Resolves with a function that returns the company's feed, which has everything that was committed before this call. Throws
   * `TooManyStreams`. The caller must call `leave`, also if this rejects.
   */
  join(companyId: string, listener: EventListener): Promise<() => EventFeed>;
  leave(companyId: string, listener: EventListener): void;
}

interface EventFeedsOptions {
  readonly database: Database;
  /** Must listen on `eventAddedChannel` and `keysChangedChannel`. */
  readonly notifications: Notifications;
  readonly log: Pick<Logger, "warn">;
  /** Pause between two signs of life. Default: 20 s. */
  readonly beatMilliseconds?: number;
}

const defaultBeatMilliseconds = 20_000;
const retryMilliseconds = 1_000;
const streamsPerKey = 20;
const streamsPerCompany = 200;
/** Kept for each company. Streams that are further behind read from the database. */
const maxRecent = 500;
const maxRecentCharacters = 1_000_000;
const pageLength = 1_000;

interface Feed {
  since: number;
  recent: FeedEvent[];
  readonly listeners: Set<EventListener>;
}

/** Until its first reading. */
const unknown = Number.POSITIVE_INFINITY;

/** An event in the format of server-sent events. */
export function eventText({ number, type, created_at, data }: EventRecord): string {
  const body = JSON.stringify({ type, timestamp: created_at.toISOString(), data });
  return `id: ${number}\nevent: ${type}\ndata: ${body}\n\n`;
}

export function makeEventFeeds({
  database,
  notifications,
  log,
  beatMilliseconds = defaultBeatMilliseconds,
}: EventFeedsOptions): EventFeeds {
  /** By company. */
  const feeds = new Map<string, Feed>();
  /** All events up to this number have been read. */
  let last = 0;
  /** Settles at the end of the next reading. Null: none is needed. */
  let next: PromiseWithResolvers<void> | null = null;
  let isReading = false;
  let retry: NodeJS.Timeout | undefined;
  let beat: NodeJS.Timeout | undefined;

  const each = (tell: (listener: EventListener) => void) => {
    for (const { listeners } of feeds.values()) listeners.forEach(tell);
  };

  /** Resolves after a reading that has begun after this call. */
  function read(): Promise<void> {
    // Reading takes it from `next` at once.
    const coming = next ?? Promise.withResolvers<void>();
    next = coming;
    if (!isReading) void readUntilDone();
    return coming.promise;
  }

  async function readUntilDone(): Promise<void> {
    isReading = true;
    for (let reading = next; reading !== null; reading = next) {
      next = null;
      await readNew().then(reading.resolve, reading.reject);
    }
    isReading = false;
  }

  /** What can't be read now is read a little later. */
  function noticeNew(): void {
    if (feeds.size === 0 || retry !== undefined) return;
    read().catch((err: unknown) => {
      log.warn({ err }, "Reading events failed and will be retried");
      retry ??= setTimeout(() => {
        retry = undefined;
        noticeNew();
      }, retryMilliseconds).unref();
    });
  }

  async function readNew(): Promise<void> {
    const newest = await numberEvents(database);
    const joining = [...feeds.values()].filter(({ since }) => since === unknown);
    // Nobody needs earlier ones.
    if (joining.length === feeds.size) last = newest;
    for (const feed of joining) feed.since = last;
    const companyIds = [...feeds.keys()];
    while (last < newest) {
      const range = { companyIds, siteIds: null, after: last, upTo: newest, limit: pageLength };
      const events = await readEvents(database, range);
      for (const [companyId, own] of Map.groupBy(events, ({ company_id }) => company_id)) add(companyId, own);
      last = events.length < pageLength ? newest : (events.at(-1)?.number ?? newest);
    }
  }

  function add(companyId: string, events: readonly EventRecord[]): void {
    const feed = feeds.get(companyId);
    // It may have ended and begun again meanwhile.
    if (feed === undefined || feed.since === unknown) return;
    feed.recent.push(
      ...events.map((event) => ({ number: event.number, site_id: event.site_id, text: eventText(event) })),
    );
    const kept = newestWithin(feed.recent);
    feed.since = feed.recent.at(-kept.length - 1)?.number ?? feed.since;
    feed.recent = kept;
    for (const { wake } of feed.listeners) wake(false);
  }

  function requirePlace(feed: Feed, keyId: string): void {
    const ofKey = [...feed.listeners].filter((listener) => listener.keyId === keyId).length;
    if (ofKey >= streamsPerKey) {
      throw new TooManyStreams(
        `This key or session follows the events ${streamsPerKey} times already. Close a stream, or share one.`,
      );
    }
    if (feed.listeners.size >= streamsPerCompany) {
      throw new TooManyStreams(`The company follows its events ${streamsPerCompany} times already. Close a stream.`);
    }
  }

  notifications.on(eventAddedChannel, noticeNew);
  notifications.on(keysChangedChannel, (companyId) => {
    for (const { doubt } of feeds.get(companyId)?.listeners ?? []) doubt();
  });
  notifications.onGap(() => {
    each(({ doubt }) => doubt());
    noticeNew();
  });

  return {
    async join(companyId, listener) {
      const feed: Feed = feeds.get(companyId) ?? { since: unknown, recent: [], listeners: new Set() };
      requirePlace(feed, listener.keyId);
      feeds.set(companyId, feed);
      feed.listeners.add(listener);
      beat ??= setInterval(() => each(({ wake }) => wake(true)), beatMilliseconds);
      await read();
      return () => ({ last, since: feed.since, recent: feed.recent });
    },
    leave(companyId, listener) {
      const feed = feeds.get(companyId);
      if (!feed?.listeners.delete(listener) || feed.listeners.size > 0) return;
      feeds.delete(companyId);
      if (feeds.size > 0) return;
      clearInterval(beat);
      beat = undefined;
    },
  };
}

/** The newest events, within the limits of a feed. */
function newestWithin(events: readonly FeedEvent[]): FeedEvent[] {
  let characters = 0;
  const kept = events.slice(-maxRecent).toReversed();
  const tooMany = kept.findIndex(({ text }) => {
    characters += text.length;
    return characters > maxRecentCharacters;
  });
  return (tooMany === -1 ? kept : kept.slice(0, tooMany)).toReversed();
}
