/**
 * Log files are `<folder>/<environment>/<log>-<time of creation>.log`. The edge process (`edge/logs/`) appends to them
 * and never renames them, so files sorted by name are in order of time.
 */

const stamp = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.log$/;

/** When a log file was created (milliseconds since 1970), or null if the file does not belong to that log. */
export function fileCreatedAt(file: string, log: string): number | null {
  if (!file.startsWith(`${log}-`)) return null;
  const parts = stamp.exec(file.slice(log.length + 1));
  if (parts === null) return null;
  const [, year, month, day, hours, minutes, seconds, milliseconds] = parts;
  return Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`);
}
