/** Reads and removes the logs of environments, which the edge process writes. */

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { type Budget, isUsedUp, linesBackwards } from "./backwards.ts";
import { fileCreatedAt } from "./layout.ts";
import { timeOfLine } from "./lineTime.ts";

export interface LogQuery {
  readonly environmentId: string;
  /** `access` or `error`; other logs are empty. */
  readonly log: string;
  /** Maximum number of lines. */
  readonly lines: number;
  /** Both inclusive. */
  readonly from: Date | null;
  readonly to: Date | null;
  /** Case is ignored. */
  readonly search: string | null;
}

export interface LogText {
  /** The newest matching lines, oldest first. */
  readonly text: string;
  /** False if a limit was reached, so that older lines may match too. */
  readonly isComplete: boolean;
}

export interface Logs {
  read(query: LogQuery): Promise<LogText>;
  /** Ids of environments that have logs. */
  list(): Promise<readonly string[]>;
  /** Removes all logs of an environment. Does nothing if there are none. */
  remove(environmentId: string): Promise<void>;
  /** Removes files created before `time`. The edge writes to a file for at most a day. */
  removeBegunBefore(environmentId: string, time: Date): Promise<void>;
}

export interface LogReadLimits {
  /** Bytes read from files. */
  readonly scannedBytes: number;
  readonly milliseconds: number;
  /** Length of the answer. */
  readonly characters: number;
}

const defaultLimits: LogReadLimits = { scannedBytes: 64_000_000, milliseconds: 5_000, characters: 8_000_000 };
/** Limits CPU and memory, which the process needs for other work too. */
const concurrentReads = 4;
/** A line may be older than the one before it by this much, because clocks get adjusted. */
const disorderMilliseconds = 60_000;
const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function openLogs(folder: string, limits: LogReadLimits = defaultLimits): Logs {
  const folderOf = (environmentId: string) => {
    if (!idPattern.test(environmentId)) throw new Error(`Not an id: ${environmentId}`);
    return join(folder, environmentId);
  };
  const limit = pLimit(concurrentReads);
  return {
    async read(query) {
      const logFolder = folderOf(query.environmentId);
      const files = filesFor(await namesIn(logFolder), query).map((name) => join(logFolder, name));
      return limit(() => select(files, query, limits));
    },
    list: async () => (await namesIn(folder)).filter((name) => idPattern.test(name)),
    remove: (environmentId) => rm(folderOf(environmentId), { recursive: true, force: true }),
    async removeBegunBefore(environmentId, time) {
      const logFolder = folderOf(environmentId);
      for (const name of await namesIn(logFolder)) {
        const createdAt = fileCreatedAt(name, logOf(name));
        if (createdAt !== null && createdAt < time.getTime()) await rm(join(logFolder, name), { force: true });
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

/** The log's files that may have lines from the requested time, newest first. */
function filesFor(names: readonly string[], { log, to }: LogQuery): readonly string[] {
  const latest = to === null ? Number.POSITIVE_INFINITY : to.getTime() + disorderMilliseconds;
  const isWanted = (createdAt: number | null) => createdAt !== null && createdAt <= latest;
  return names
    .filter((name) => isWanted(fileCreatedAt(name, log)))
    .toSorted()
    .reverse();
}

async function select(files: readonly string[], query: LogQuery, limits: LogReadLimits): Promise<LogText> {
  const budget: Budget = { bytes: limits.scannedBytes, until: performance.now() + limits.milliseconds };
  const match = makeMatcher(query);
  const found: string[] = [];
  let characters = 0;
  const answer = (isComplete: boolean) => ({ text: found.toReversed().join("\n"), isComplete });
  for await (const lines of linesBackwards(files, budget)) {
    if (areAllLater(lines, query.to)) continue;
    for (const line of lines) {
      const result = match(line);
      if (result === "tooOld") return answer(true);
      if (result === "noMatch") continue;
      characters += line.length;
      if (characters > limits.characters) return answer(false);
      found.push(line);
      if (found.length === query.lines) return answer(true);
    }
  }
  return answer(!isUsedUp(budget));
}

/** Skips a batch quickly by its oldest line if all lines are later than the requested time. */
function areAllLater(lines: readonly string[], to: Date | null): boolean {
  const oldest = timeOfLine(lines.at(-1) ?? "");
  return to !== null && oldest !== null && oldest.first > to.getTime() + disorderMilliseconds;
}

type Match = "match" | "noMatch" | "tooOld";

function makeMatcher({ from, to, search }: LogQuery): (line: string) => Match {
  const earliest = from?.getTime() ?? Number.NEGATIVE_INFINITY;
  const latest = to?.getTime() ?? Number.POSITIVE_INFINITY;
  const isAnyTime = from === null && to === null;
  const wanted = search?.toLowerCase() ?? "";
  return (line) => {
    if (line === "") return "noMatch";
    if (!isAnyTime) {
      const time = timeOfLine(line);
      if (time !== null && time.last < earliest - disorderMilliseconds) return "tooOld";
      if (time === null || time.last < earliest || time.first > latest) return "noMatch";
    }
    return wanted === "" || line.toLowerCase().includes(wanted) ? "match" : "noMatch";
  };
}
