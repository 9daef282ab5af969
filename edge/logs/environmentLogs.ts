/**
 * What those who look after a site want to read afterwards: who asked for what (`access`), and what PHP complained of
 * (`error`). One folder for each environment, which PHP can't reach.
 *
 * A script that complains without end fills neither the disk nor the log: of what comes within a minute a part is kept,
 * and the rest is counted.
 */
import { type AccessFacts, accessLine } from "./accessLine.ts";
import { oneLine } from "./escape.ts";
import { createLogFiles, type LogLimits, usualLogLimits } from "./logFiles.ts";

export interface EnvironmentLogs {
  access(environmentId: string, facts: AccessFacts): void;
  /** Each line gets the time at its beginning. */
  error(environmentId: string, text: string): void;
  /** Resolves when everything is written that can be. */
  close(): Promise<void>;
}

export interface EnvironmentLogsOptions {
  readonly folder: string;
  readonly limits?: LogLimits;
  /** Of errors of one environment, within a minute. */
  readonly errorCharactersPerMinute?: number;
}

const longestLine = 8_192;
const usualErrorCharacters = 1_000_000;
const minute = 60_000;

/** Lines of an environment's errors within the same minute. */
interface Minute {
  characters: number;
  left: number;
  readonly timer: NodeJS.Timeout;
}

export function createEnvironmentLogs(options: EnvironmentLogsOptions): EnvironmentLogs {
  const { folder, limits = usualLogLimits, errorCharactersPerMinute = usualErrorCharacters } = options;
  const minutes = new Map<string, Minute>();
  const files = createLogFiles({
    folder,
    limits,
    onLost: (environmentId, name, lines) =>
      writeError(
        environmentId,
        `Sitewright: lines of the ${name} log that could not be written and are lost: ${lines}`,
      ),
  });

  function writeError(environmentId: string, text: string): void {
    files.write(environmentId, "error", `[${new Date().toISOString()}] ${text}`);
  }

  function end(environmentId: string): void {
    const ending = minutes.get(environmentId);
    if (ending === undefined) return;
    clearTimeout(ending.timer);
    minutes.delete(environmentId);
    if (ending.left > 0) {
      writeError(
        environmentId,
        `Sitewright: … and ${ending.left} more lines within this minute, which are too many to keep`,
      );
    }
  }

  function minuteOf(environmentId: string): Minute {
    const running = minutes.get(environmentId);
    if (running !== undefined) return running;
    const timer = setTimeout(() => end(environmentId), minute).unref();
    const begun: Minute = { characters: 0, left: 0, timer };
    minutes.set(environmentId, begun);
    return begun;
  }

  return {
    access: (environmentId, facts) => files.write(environmentId, "access", accessLine(facts)),
    error(environmentId, text) {
      const line = oneLine(text, longestLine);
      const current = minuteOf(environmentId);
      current.characters += line.length;
      if (current.characters > errorCharactersPerMinute) current.left += 1;
      else writeError(environmentId, line);
    },
    async close() {
      for (const environmentId of [...minutes.keys()]) end(environmentId);
      await files.flush();
      // What could be written again says so.
      await files.flush();
    },
  };
}
