/** When a line was written, as it says itself. */

/** Milliseconds since 1970: the first and the last moment that the line's time stands for. */
export interface LineTime {
  readonly first: number;
  readonly last: number;
}

const inErrors = /^\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\]/;
/** The brackets are the first that the edge writes; visitors have no say in what stands before. */
const inAccess = /^\S+ \S+ \S+ \[(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) \+0000\]/;
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Null if it says nothing: it was damaged. */
export function timeOfLine(line: string): LineTime | null {
  const error = inErrors.exec(line);
  if (error !== null) return valid(Date.parse(error[1] ?? ""), 0);
  const access = inAccess.exec(line);
  if (access === null) return null;
  const [, day, name = "", year, time] = access;
  const month = String(months.indexOf(name) + 1).padStart(2, "0");
  return valid(Date.parse(`${year}-${month}-${day}T${time}Z`), 999);
}

function valid(first: number, more: number): LineTime | null {
  return Number.isNaN(first) ? null : { first, last: first + more };
}
