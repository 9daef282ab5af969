/**
 * The counts of minutes that are over, until control has stored them. They are in a file, too: a restarted edge reports those of
 * the one before it.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import type { Counts } from "./counts.ts";

export interface CountedMinute {
  /** The start of the edge that counted. */
  readonly run: string;
  /** Milliseconds since 1970. */
  readonly begins: number;
  /** By id; without those that had no requests. */
  readonly environments: Readonly<Record<string, Counts>>;
}

/** Up to which minute control has stored a report: it contains nothing that is stored already. */
export interface StoredMinutes {
  readonly run: string;
  readonly last: number;
}

export interface AnalyticsReport extends StoredMinutes {
  readonly minutes: readonly CountedMinute[];
}

export interface EndedMinutes {
  add(minute: CountedMinute): void;
  /** The oldest minutes after those that are `stored`, which are dropped. Null, or one of another start: all that there are. */
  report(stored: StoredMinutes | null): AnalyticsReport;
  /** Writes them and the present minute to the file. */
  save(present: CountedMinute): Promise<void>;
}

/** Control keeps minutes for twice as long, so that no late one is missing in the sums of its hour. */
const maxMinutes = 24 * 60;
/** Counts of environments, of about 500 bytes each. */
const maxCounts = 40_000;
const countsInReport = 5_000;

const counted = v.object({
  run: v.pipe(v.string(), v.uuid()),
  begins: v.number(),
  environments: v.record(v.string(), v.record(v.string(), v.number())),
});
const kept = v.object({ minutes: v.array(counted) });

/** `folder`: null keeps everything in memory. `onBroken` is called if the file can't be read; its counts are lost. */
export async function openEndedMinutes(
  run: string,
  folder: string | null,
  onBroken: (error: unknown) => void,
): Promise<EndedMinutes> {
  const file = folder === null ? null : path.join(folder, "minutes.json");
  let waiting = file === null ? [] : await readMinutes(file, onBroken);
  /** The number of the first one in `waiting`. */
  let first = 1;

  const drop = (count: number) => {
    waiting = waiting.slice(count);
    first += count;
  };

  return {
    add(minute) {
      waiting.push(minute);
      while (waiting.length > maxMinutes || (waiting.length > 1 && countsIn(waiting) > maxCounts)) drop(1);
    },
    report(stored) {
      if (stored?.run === run) drop(Math.max(0, Math.min(waiting.length, stored.last + 1 - first)));
      const minutes = waiting.slice(0, fitting(waiting));
      return { run, last: first + minutes.length - 1, minutes };
    },
    async save(present) {
      if (file === null) return;
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(`${file}.new`, JSON.stringify({ minutes: [...waiting, present] }), { mode: 0o600 });
      await rename(`${file}.new`, file);
    },
  };
}

const sizeOf = ({ environments }: CountedMinute): number => Object.keys(environments).length;

const countsIn = (minutes: readonly CountedMinute[]): number =>
  minutes.reduce((sum, minute) => sum + sizeOf(minute), 0);

/** How many of the minutes fit into a report; at least one. */
function fitting(minutes: readonly CountedMinute[]): number {
  let counts = 0;
  const over = minutes.findIndex((minute, index) => {
    counts += sizeOf(minute);
    return index > 0 && counts > countsInReport;
  });
  return over === -1 ? minutes.length : over;
}

async function readMinutes(file: string, onBroken: (error: unknown) => void): Promise<CountedMinute[]> {
  try {
    return v.parse(kept, JSON.parse(await readFile(file, "utf8"))).minutes;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) onBroken(error);
    return [];
  }
}
