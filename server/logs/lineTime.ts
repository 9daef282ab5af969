/** Reads the time of a log line. */

/** The range that the line's time stands for, in milliseconds since 1970. */
interface LineTime {
  readonly first: number;
  readonly last: number;
}

const errorLogTime = /^\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\]/;
/** Anchored at the start, because visitors control the rest of the line. */
const accessLogTime = /^\S+ \S+ \S+ \[(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) \+0000\]/;
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Returns null if the line has no valid time, for example because it is damaged. */
export function timeOfLine(line: string): LineTime | null {
  const error = errorLogTime.exec(line);
  if (error !== null) return range(Date.parse(error[1] ?? ""), 0);
  const access = accessLogTime.exec(line);
  if (access === null) return null;
  const [, day, name = "", year, time] = access;
  const month = String(months.indexOf(name) + 1).padStart(2, "0");
  return range(Date.parse(`${year}-${month}-${day}T${time}Z`), 999);
}

function range(first: number, milliseconds: number): LineTime | null {
  return Number.isNaN(first) ? null : { first, last: first + milliseconds };
}
