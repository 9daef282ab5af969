/**
 * The events of all environments, as last read from their databases. Also kept in a file: otherwise each start of the server would
 * read every site's database, in a process each if environments have users of their own. The file may be old or missing, because
 * each entry names the state of the database that it was read from.
 */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { NextEvents } from "../../runtime.ts";

export interface Known {
  /** Identifies the state of the database when it was read; null: read it again. */
  readonly stamp: string | null;
  readonly next: NextEvents;
}

export interface KnownEvents extends Pick<Map<string, Known>, "get" | "keys"> {
  set(environmentId: string, known: Known): void;
  delete(environmentId: string): void;
  /** Reads the file, in the first call. */
  load(): Promise<void>;
  /** Writes the file if there are changes and it was not written lately. Failures are ignored. */
  save(): Promise<void>;
}

/** Raise it when events are read or stored in another way. Files of other versions are ignored. */
const version = 1;
/** Sites with visitors change all the time. What is not saved is read again after a restart. */
const saveMilliseconds = 5 * 60_000;

/** `file`: absent, nothing is kept. */
export function openKnownEvents(file: string | null, now: () => number = () => performance.now()): KnownEvents {
  const known = new Map<string, Known>();
  let isChanged = false;
  let savedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<void> | null = null;

  async function read(): Promise<void> {
    const text = file === null ? null : await readFile(file, "utf8").catch(() => null);
    for (const [id, entry] of entriesIn(text)) if (!known.has(id)) known.set(id, entry);
  }

  return {
    get: (id) => known.get(id),
    keys: () => known.keys(),
    set: (id, entry) => {
      known.set(id, entry);
      isChanged = true;
    },
    delete: (id) => {
      if (known.delete(id)) isChanged = true;
    },
    load: () => {
      loading ??= read();
      return loading;
    },
    save: async () => {
      if (file === null || !isChanged || now() - savedAt < saveMilliseconds) return;
      isChanged = false;
      savedAt = now();
      const entries = [...known].filter(([, { stamp, next }]) => stamp !== null && next.problem === null);
      await replace(file, JSON.stringify({ version, entries: Object.fromEntries(entries) })).catch(() => undefined);
    },
  };
}

/** Not durably: after a power failure, everything can be read again. */
async function replace(file: string, content: string): Promise<void> {
  const temporary = `${file}.new`;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  try {
    await writeFile(temporary, content, { mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Empty if the text is damaged or of another version. */
function entriesIn(text: string | null): readonly [string, Known][] {
  try {
    const found: unknown = JSON.parse(text ?? "{}");
    const isKnown = typeof found === "object" && found !== null && "version" in found && "entries" in found;
    if (!isKnown || found.version !== version) return [];
    return Object.entries(found.entries ?? {}).filter(isEntry);
  } catch {
    return [];
  }
}

function isEntry(entry: [string, unknown]): entry is [string, Known] {
  const [, value] = entry;
  if (typeof value !== "object" || value === null || !("stamp" in value && "next" in value)) return false;
  const { stamp, next } = value;
  if (typeof stamp !== "string" || typeof next !== "object" || next === null) return false;
  return "events" in next && Array.isArray(next.events) && next.events.every(isEvent) && "problem" in next;
}

function isEvent(event: unknown): boolean {
  return typeof event === "object" && event !== null && "dueAt" in event && typeof event.dueAt === "number";
}
