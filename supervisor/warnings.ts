/** Which lines of a child's log the person at the terminal should see. */

/** Levels of pino: 40 is a warning, 50 an error. */
const warning = 40;

/** A sentence for the terminal where the line is a log entry that warns, otherwise null. */
export function warningIn(name: string, line: string): string | null {
  if (!line.startsWith("{")) {
    return null;
  }
  try {
    const entry: { level?: unknown; msg?: unknown; err?: { message?: unknown } } = JSON.parse(line);
    if (typeof entry.level !== "number" || entry.level < warning) {
      return null;
    }
    const said = [entry.msg, entry.err?.message].filter((text) => typeof text === "string" && text !== "");
    return `${name}: ${[...new Set(said.map(withoutCause))].join(": ")}`;
  } catch {
    return null;
  }
}

/** The log appends causes to messages ("It failed.: ECONNREFUSED"). After a whole sentence they stay there. */
function withoutCause(text: unknown): string {
  return String(text).replace(/\.: .*$/s, ".");
}
