/** Events of companies, which triggers add. Migration 0057 explains how they get their numbers. */
import { sql } from "kysely";
import type { Database, Json } from "../database.ts";

/** Notified when a commit has added events. */
export const eventAddedChannel = "event_added";

export interface EventRecord {
  readonly number: number;
  readonly company_id: string;
  readonly type: string;
  /** Null: it concerns no site. */
  readonly site_id: string | null;
  readonly data: Json;
  readonly created_at: Date;
}

const mostAtOnce = 5_000;

/** Numbers all events that were committed before this call. Returns the newest number. */
export async function numberEvents(database: Database): Promise<number> {
  for (;;) {
    const { rows } = await sql<{ last: number; numbered: number }>`
      select last, numbered from number_events(${mostAtOnce})`.execute(database);
    const [{ last, numbered } = { last: 0, numbered: 0 }] = rows;
    if (numbered < mostAtOnce) return last;
  }
}

export interface EventRange {
  readonly companyIds: readonly string[];
  /** Only events on these sites. Null: all. */
  readonly siteIds: readonly string[] | null;
  /** Only higher numbers. */
  readonly after: number;
  /** Only numbers up to this one. */
  readonly upTo: number;
  readonly limit: number;
}

/** Returns the first events of the range, in the order of their numbers. */
export async function readEvents(
  database: Database,
  { companyIds, siteIds, after, upTo, limit }: EventRange,
): Promise<readonly EventRecord[]> {
  const { rows } = await sql<EventRecord>`
    select number, company_id, type, site_id, data, created_at from events
    where company_id = any(${companyIds}::uuid[]) and number > ${after} and number <= ${upTo}
      and (${siteIds}::uuid[] is null or site_id = any(${siteIds}::uuid[]))
    order by number limit ${limit}`.execute(database);
  return rows;
}

/** Returns the newest number of an event that is no longer kept. Clients that continue before it have missed events. */
export async function newestRemovedEvent(database: Database): Promise<number> {
  const { removed } = await database.selectFrom("event_numbers").select("removed").executeTakeFirstOrThrow();
  return removed;
}

/** Removes events that are older. They get numbers first, so that clients that have missed them notice it. */
export async function removeOldEvents(database: Database, hours: number): Promise<void> {
  await numberEvents(database);
  await sql`
    with old as (
      delete from events where number is not null and created_at < now() - make_interval(hours => ${hours}::int)
      returning number
    )
    update event_numbers set removed = newest from (select max(number) as newest from old) found
    where newest > removed`.execute(database);
}
