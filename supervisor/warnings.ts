/** Picks the lines of a child's log that are shown in the terminal. */

/** Log levels of pino: 40 is a warning, 50 an error. */
const warning = 40;

/** The message for the terminal if the line is a log entry of level warning or higher, otherwise null. */
export function warningIn(name: string, line: string): string | null {
  if (!line.startsWith("{")) {
    return null;
  }
  try {
    const entry: { level?: unknown; msg?: unknown; err?: { message?: unknown } } = JSON.parse(line);
    if (typeof entry.level !== "number" || entry.level < warning) {
      return null;
    }
    const messages = [entry.msg, entry.err?.message].filter((text) => typeof text === "string" && text !== "");
    return `${name}: ${[...new Set(messages.map(withoutCause))].join(": ")}`;
  } catch {
    return null;
  }
}

/** Removes the causes that the log appends after a full stop ("It failed.: ECONNREFUSED"). */
function withoutCause(text: unknown): string {
  return String(text).replace(/\.: .*$/s, ".");
}
