/**
 * Where the lines of an environment's logs are: `<folder>/<environment>/<log>-<when the file was begun>.log`, appended to
 * by the edge process (`edge/logs/`), which knows nothing of us. Nothing is renamed, so names in order are lines in order.
 */

const stamp = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.log$/;

/** Milliseconds since 1970. Null if it is no file of that log. */
export function begunAt(file: string, log: string): number | null {
  if (!file.startsWith(`${log}-`)) return null;
  const parts = stamp.exec(file.slice(log.length + 1));
  if (parts === null) return null;
  const [, year, month, day, hours, minutes, seconds, milliseconds] = parts;
  return Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`);
}
