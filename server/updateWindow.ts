/** Update windows: days of the week and hours, in the site's time zone, in which updates may start. */

export interface UpdateWindow {
  /** Days of the week; 0 is Sunday. */
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

/** Cache by lowercase zone name: creating a format takes longer than using it a thousand times. */
const formats = new Map<string, Intl.DateTimeFormat>();
/** More than the number of named zones. Offsets such as `+01:23` are zones too. */
const maxFormats = 600;

function makeFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const key = timeZone.toLowerCase();
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = makeFormat(timeZone);
  if (formats.size >= maxFormats) formats.clear();
  formats.set(key, made);
  return made;
}

/** Whether this is a known time zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    makeFormat(timeZone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Offset from UTC in milliseconds. */
function offsetAt(timeZone: string, time: number): number {
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(formatOf(timeZone).format(time)) ?? [];
  const offset = Number(hours ?? 0) * hour + Number(minutes ?? 0) * minute;
  return sign === "-" ? -offset : offset;
}

/**
 * When the window opens on the day whose midnight in UTC is `date`. If the local time occurs twice, the first one counts; if
 * it is skipped, the first minute after the gap.
 */
function openingOn({ start_minute: start, time_zone: zone }: UpdateWindow, date: number): number {
  const wanted = date + start * minute;
  const [before, after] = [offsetAt(zone, wanted - day), offsetAt(zone, wanted + day)];
  let [early, late] = [wanted - Math.max(before, after), wanted - Math.min(before, after)];
  for (const time of [early, late]) if (time + offsetAt(zone, time) === wanted) return time;
  while (late - early > minute) {
    const middle = early + Math.floor((late - early) / 2 / minute) * minute;
    if (offsetAt(zone, middle) === before) early = middle;
    else late = middle;
  }
  return late;
}

/** When the window is next open: now if it is open, or null if never. Throws `RangeError` if the time zone is unknown. */
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
