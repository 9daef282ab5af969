/** Following the events of a company. */
import type { Context } from "../context.ts";
import { openEventStream } from "./eventStream.ts";

interface EventsQuery {
  readonly last_event_id?: string;
  readonly follow?: boolean;
}

/**
 * Returns the events after the client's last one as text that arrives while they happen. Throws `TooManyStreams`.
 *
 * The header takes precedence: browsers send it when they connect again, to the address with the first query.
 */
export function follow(context: Context, { last_event_id, follow: isEndless = true }: EventsQuery) {
  const { caller, callerNow, database, eventFeeds: feeds, lastEventId, signal } = context;
  const given = lastEventId ?? last_event_id ?? "";
  const after = given === "" ? null : numberOf(given);
  return openEventStream({ database, feeds, caller, callerNow, after, isEndless, signal });
}

/** Not a number if it is no id of an event. */
const numberOf = (id: string): number => (/^\d{1,15}$/.test(id) ? Number(id) : Number.NaN);
