/** Logs of environments, as the edge process has written them: read, and removed when their time is over. */

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { type Budget, isUsedUp, linesBackwards } from "./backwards.ts";
import { begunAt } from "./layout.ts";
import { timeOfLine } from "./lineTime.ts";

export interface LogQuery {
  readonly environmentId: string;
  /** `access`, `error`; of any other there are no lines. */
  readonly log: string;
  /** At most. */
  readonly lines: number;
  /** Both inclusive. */
  readonly from: Date | null;
  readonly to: Date | null;
  /** In whatever case. */
  readonly search: string | null;
}

export interface LogText {
  /** The newest lines that match, the oldest of them first. */
  readonly text: string;
  /** Whether all that was asked for is there; otherwise older lines may match, which nobody has looked at. */
  readonly isComplete: boolean;
}

export interface Logs {
  read(query: LogQuery): Promise<LogText>;
  /** Ids of environments that have logs. */
  list(): Promise<readonly string[]>;
  /** Removes all of them. Tolerates that there are none. */
  remove(environmentId: string): Promise<void>;
  /** Removes files that were begun before. The edge goes on with a file for a day at most. */
  removeBegunBefore(environmentId: string, moment: Date): Promise<void>;
}

export interface LogReadLimits {
  /** Of files. */
  readonly scannedBytes: number;
  readonly milliseconds: number;
  /** Of the answer. */
  readonly characters: number;
}

const usualLimits: LogReadLimits = { scannedBytes: 64_000_000, milliseconds: 5_000, characters: 8_000_000 };
/** Each takes a little of the processor and the memory of a process that does everything else, too. */
const readsAtOnce = 4;
/** By so much may a line be older than the one before it: clocks are set right now and then. */
const disorderMilliseconds = 60_000;
const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function openLogs(folder: string, limits: LogReadLimits = usualLimits): Logs {
  const folderOf = (environmentId: string) => {
    if (!idPattern.test(environmentId)) throw new Error(`Not an id: ${environmentId}`);
    return join(folder, environmentId);
  };
  const limit = pLimit(readsAtOnce);
  return {
    async read(query) {
      const own = folderOf(query.environmentId);
      const files = filesFor(await namesIn(own), query).map((name) => join(own, name));
      return limit(() => select(files, query, limits));
    },
    list: async () => (await namesIn(folder)).filter((name) => idPattern.test(name)),
    remove: (environmentId) => rm(folderOf(environmentId), { recursive: true, force: true }),
    async removeBegunBefore(environmentId, moment) {
      const own = folderOf(environmentId);
      for (const name of await namesIn(own)) {
        const begun = begunAt(name, logOf(name));
        if (begun !== null && begun < moment.getTime()) await rm(join(own, name), { force: true });
      }
    },
  };
}

function logOf(file: string): string {
  return file.slice(0, Math.max(0, file.lastIndexOf("-")));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Those of the log that may have lines from the time that is asked about, the newest first. */
function filesFor(names: readonly string[], { log, to }: LogQuery): readonly string[] {
  const latest = to === null ? Number.POSITIVE_INFINITY : to.getTime() + disorderMilliseconds;
  const isWanted = (begun: number | null) => begun !== null && begun <= latest;
  return names
    .filter((name) => isWanted(begunAt(name, log)))
    .toSorted()
    .reverse();
}

async function select(files: readonly string[], query: LogQuery, limits: LogReadLimits): Promise<LogText> {
  const budget: Budget = { bytes: limits.scannedBytes, until: performance.now() + limits.milliseconds };
  const judge = makeJudge(query);
  const found: string[] = [];
  let characters = 0;
  const answer = (isComplete: boolean) => ({ text: found.toReversed().join("\n"), isComplete });
  for await (const lines of linesBackwards(files, budget)) {
    if (areAllLater(lines, query.to)) continue;
    for (const line of lines) {
      const verdict = judge(line);
      if (verdict === "tooOld") return answer(true);
      if (verdict === "other") continue;
      characters += line.length;
      if (characters > limits.characters) return answer(false);
      found.push(line);
      if (found.length === query.lines) return answer(true);
    }
  }
  return answer(!isUsedUp(budget));
}

/** Of many lines nearly all may be from after the time that is asked about: then one of them is looked at. */
function areAllLater(lines: readonly string[], to: Date | null): boolean {
  const oldest = timeOfLine(lines.at(-1) ?? "");
  return to !== null && oldest !== null && oldest.first > to.getTime() + disorderMilliseconds;
}

type Verdict = "wanted" | "other" | "tooOld";

function makeJudge({ from, to, search }: LogQuery): (line: string) => Verdict {
  const earliest = from?.getTime() ?? Number.NEGATIVE_INFINITY;
  const latest = to?.getTime() ?? Number.POSITIVE_INFINITY;
  const isAnyTime = from === null && to === null;
  const wanted = search?.toLowerCase() ?? "";
  return (line) => {
    if (line === "") return "other";
    if (!isAnyTime) {
      const time = timeOfLine(line);
      if (time !== null && time.last < earliest - disorderMilliseconds) return "tooOld";
      if (time === null || time.last < earliest || time.first > latest) return "other";
    }
    return wanted === "" || line.toLowerCase().includes(wanted) ? "wanted" : "other";
  };
}
