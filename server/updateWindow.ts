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
const minutesOfDay = 1_440;
/** The beginning of a window is found as exactly as this. */
const stepMinutes = 15;
const stepsOfWeek = (8 * minutesOfDay) / stepMinutes;
const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** To make one takes longer than to use it a thousand times. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const options = { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone } as const;
  const made = new Intl.DateTimeFormat("en-US", options);
  formats.set(timeZone, made);
  return made;
}

/** Whether this machine knows the time there. */
export function isTimeZone(timeZone: string): boolean {
  try {
    formatOf(timeZone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export function isOpen({ days, start_minute: start, hours, time_zone }: UpdateWindow, now: Date): boolean {
  const parts = formatOf(time_zone).formatToParts(now);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
  const minutes = Number(part("hour")) * 60 + Number(part("minute"));
  const since = (minutes - start + minutesOfDay) % minutesOfDay;
  if (since >= hours * 60) return false;
  // It may have opened before midnight.
  const today = weekdays.indexOf(part("weekday"));
  return days.includes(minutes < start ? (today + 6) % 7 : today);
}

/** When it is open again, or a quarter of an hour later at most; null: never. */
export function nextOpening(window: UpdateWindow, now: Date): Date | null {
  for (let step = 0; step <= stepsOfWeek; step += 1) {
    const then = new Date(now.getTime() + step * stepMinutes * minute);
    if (isOpen(window, then)) return then;
  }
  return null;
}
