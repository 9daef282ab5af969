/** WP-Cron events of a fake WordPress: rows of a table, which tests insert. */
import { partOf, type Release } from "../releases.ts";
import type { CronEvent, CronEvents, NextEvents } from "../runtime.ts";
import { readTables } from "./database.ts";
import { specOf } from "./release.ts";

const eventsTable = "wp_events";

function isEvent(row: unknown): row is CronEvent {
  return typeof row === "object" && row !== null && "hook" in row && "dueAt" in row && "args" in row;
}

/** Returns null if there is no WordPress. */
export async function plansOf(release: Release | null): Promise<CronEvents | null> {
  if (release === null || (await specOf(release)).wordpress === null) return null;
  const rows = (await readTables(await partOf(release, "database")))[eventsTable] ?? [];
  const events = rows.filter(isEvent).toSorted((one, other) => one.dueAt - other.dueAt);
  return { sites: [{ place: null, events }], problem: null };
}

export function nextOf({ sites, problem }: CronEvents): NextEvents {
  const events = sites.flatMap(({ place, events: [first] }) =>
    first === undefined ? [] : [{ place, dueAt: first.dueAt }],
  );
  return { events, problem };
}
