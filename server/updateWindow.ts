/** When updates may begin: on some days of the week, from a time of day on, where the site's people are. */

export interface UpdateWindow {
  /** Of the week, from 0, Sunday, on. */
  readonly days: readonly number[];
  /** After midnight. */
  readonly start_minute: number;
  readonly hours: number;
  /** `Europe/Berlin`. */
  readonly time_zone: string;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** To make one takes longer than to use it a thousand times. By the zone's name in small letters. */
const formats = new Map<string, Intl.DateTimeFormat>();
/** More than there are zones with a name; offsets such as `+01:23` are zones too. */
const mostFormats = 600;

function makeFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const key = timeZone.toLowerCase();
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = makeFormat(timeZone);
  if (formats.size >= mostFormats) formats.clear();
  formats.set(key, made);
  return made;
}

/** Whether this machine knows the time there. */
export function isTimeZone(timeZone: string): boolean {
  try {
    makeFormat(timeZone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** How far the clock there is ahead of UTC. */
function offsetAt(timeZone: string, moment: number): number {
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(formatOf(timeZone).format(moment)) ?? [];
  const offset = Number(hours ?? 0) * hour + Number(minutes ?? 0) * minute;
  return sign === "-" ? -offset : offset;
}

/**
 * When it opens on a day, of which `date` is the midnight in UTC. Where the clock shows the time twice in that night the first
 * counts; where it shows it never, the first minute after what is left out.
 */
function openingOn({ start_minute: start, time_zone: zone }: UpdateWindow, date: number): number {
  const wanted = date + start * minute;
  const [before, after] = [offsetAt(zone, wanted - day), offsetAt(zone, wanted + day)];
  let [early, late] = [wanted - Math.max(before, after), wanted - Math.min(before, after)];
  for (const moment of [early, late]) if (moment + offsetAt(zone, moment) === wanted) return moment;
  while (late - early > minute) {
    const middle = early + Math.floor((late - early) / 2 / minute) * minute;
    if (offsetAt(zone, middle) === before) early = middle;
    else late = middle;
  }
  return late;
}

/** When it is open next, which is now where it is; null: never. Throws `RangeError` if nothing is known of the time zone. */
export function nextOpening(window: UpdateWindow, now: Date): Date | null {
  const local = now.getTime() + offsetAt(window.time_zone, now.getTime());
  const today = local - (local % day);
  // It may have opened yesterday.
  for (let date = today - day; date <= today + 7 * day; date += day) {
    if (!window.days.includes(new Date(date).getUTCDay())) continue;
    const opening = openingOn(window, date);
    if (opening + window.hours * hour > now.getTime()) return new Date(Math.max(opening, now.getTime()));
  }
  return null;
}
