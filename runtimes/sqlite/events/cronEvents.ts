/**
 * Reads a WordPress's WP-Cron events from its database: the option `cron` of each of its sites. PHP writes it, so
 * anything expected may be missing, of another type, or too large.
 */
import { DatabaseSync } from "node:sqlite";
import { entriesOf, fieldOf } from "../../fields.ts";
import { type CronEvent, type CronEvents, RuntimeFailure, type SiteCronEvents } from "../../runtime.ts";
import { readPhpValue } from "../../site/values/phpValue.ts";
import { quoted } from "../findPlaceholders.ts";
import { hasOptions, type SiteOptions, sitesWithOptions } from "../siteOptions.ts";

/** A plugin that schedules events endlessly causes such a list; PHP can hardly read it either. */
const maxListBytes = 8_000_000;
/** How long a reader waits for a writer. */
const lockTimeoutMilliseconds = 1_000;

export interface EventsSource {
  readonly file: string;
  /** Prefix of WordPress's tables. */
  readonly prefix: string;
}

function eventOf(hook: string, dueAt: number, stored: unknown): CronEvent {
  const [recurrence, interval] = [fieldOf(stored, "schedule"), fieldOf(stored, "interval")];
  return {
    hook,
    dueAt,
    recurrence: typeof recurrence === "string" && recurrence !== "" ? recurrence : null,
    intervalSeconds: typeof interval === "number" && Number.isSafeInteger(interval) ? interval : null,
    args: entriesOf(fieldOf(stored, "args")).map(([, value]) => value),
  };
}

/**
 * Parses WordPress's list, which is nested by time, hook and arguments. Soonest first. Throws `RuntimeFailure` if it is
 * damaged.
 */
export function readEventList(stored: Uint8Array): CronEvent[] {
  let list: unknown;
  try {
    list = readPhpValue(stored);
  } catch (cause) {
    throw new RuntimeFailure("WordPress's list of WP-Cron events (the option `cron`) is damaged.", { cause });
  }
  return entriesOf(list)
    .filter(([time]) => /^\d{1,12}$/.test(time))
    .flatMap(([time, hooks]) =>
      entriesOf(hooks).flatMap(([hook, events]) =>
        entriesOf(events).map(([, stored]) => eventOf(hook, Number(time) * 1_000, stored)),
      ),
    )
    .toSorted((one, other) => one.dueAt - other.dueAt);
}

function eventsIn(database: DatabaseSync, options: string): CronEvent[] {
  const row = database
    .prepare(
      `SELECT substr(CAST(option_value AS BLOB), 1, ${maxListBytes + 1}) AS list FROM ${quoted(options)}
       WHERE option_name = 'cron' LIMIT 1`,
    )
    .get();
  const list = row?.list;
  if (!(list instanceof Uint8Array) || list.length === 0) return [];
  if (list.length <= maxListBytes) return readEventList(list);
  throw new RuntimeFailure("WordPress's list of WP-Cron events (the option `cron`) is too long to read.");
}

/** The scheduled events of one site, or a sentence that says why they are unknown. */
function readSite(database: DatabaseSync, { place, options }: SiteOptions): SiteCronEvents | string {
  try {
    return { place, events: eventsIn(database, options) };
  } catch (error) {
    if (error instanceof RuntimeFailure)
      return place === null ? error.message : `${place.host}${place.path}: ${error.message}`;
    throw error;
  }
}

function readSites(database: DatabaseSync, prefix: string): CronEvents {
  const main = `${prefix}options`;
  if (!hasOptions(database, main)) {
    return { sites: [], problem: `The site's database has no WordPress table ${main}.` };
  }
  const read = sitesWithOptions(database, prefix).map((site) => readSite(database, site));
  const problem = read.find((each) => typeof each === "string") ?? null;
  return { sites: read.filter((each) => typeof each !== "string"), problem };
}

/**
 * Reads a database that may be in use, without changing anything. Throws SQLite's errors if it is damaged, being
 * written, or has an unfinished write.
 */
export function readCronEvents({ file, prefix }: EventsSource): CronEvents {
  const database = new DatabaseSync(file, { readOnly: true, timeout: lockTimeoutMilliseconds });
  try {
    database.exec("BEGIN");
    return readSites(database, prefix);
  } finally {
    database.close();
  }
}
