/**
 * Access and error logs for the owners of sites. Each environment has a folder that PHP can't reach.
 *
 * Errors are limited per minute, so that a script that logs without end doesn't fill the disk. Lines over the limit are
 * only counted.
 */
import { type AccessFacts, accessLine } from "./accessLine.ts";
import { oneLine } from "./escape.ts";
import { createLogFiles, defaultLogLimits, type LogLimits } from "./logFiles.ts";

export interface EnvironmentLogs {
  access(environmentId: string, facts: AccessFacts): void;
  /** Writes a line that starts with the time. */
  error(environmentId: string, text: string): void;
  /** Resolves when all lines are written or lost. */
  close(): Promise<void>;
}

interface EnvironmentLogsOptions {
  readonly folder: string;
  readonly limits?: LogLimits;
  /** Limit for the error log of one environment. */
  readonly errorCharactersPerMinute?: number;
}

const maxLineLength = 8_192;
const defaultErrorCharacters = 1_000_000;
const minute = 60_000;

/** The errors of an environment in the current minute. */
interface Minute {
  characters: number;
  dropped: number;
  readonly timer: NodeJS.Timeout;
}

export function createEnvironmentLogs(options: EnvironmentLogsOptions): EnvironmentLogs {
  const { folder, limits = defaultLogLimits, errorCharactersPerMinute = defaultErrorCharacters } = options;
  const minutes = new Map<string, Minute>();
  const files = createLogFiles({
    folder,
    limits,
    onLost: (environmentId, name, lines) =>
      writeError(
        environmentId,
        `Sitewright: lines of the ${name} log were lost because they could not be written: ${lines}`,
      ),
  });

  function writeError(environmentId: string, text: string): void {
    files.write(environmentId, "error", `[${new Date().toISOString()}] ${text}`);
  }

  function endMinute(environmentId: string): void {
    const ending = minutes.get(environmentId);
    if (ending === undefined) return;
    clearTimeout(ending.timer);
    minutes.delete(environmentId);
    if (ending.dropped > 0) {
      writeError(
        environmentId,
        `Sitewright: … and ${ending.dropped} more lines in this minute, which exceed the limit and are not kept`,
      );
    }
  }

  function minuteOf(environmentId: string): Minute {
    const running = minutes.get(environmentId);
    if (running !== undefined) return running;
    const timer = setTimeout(() => endMinute(environmentId), minute).unref();
    const started: Minute = { characters: 0, dropped: 0, timer };
    minutes.set(environmentId, started);
    return started;
  }

  return {
    access: (environmentId, facts) => files.write(environmentId, "access", accessLine(facts)),
    error(environmentId, text) {
      const line = oneLine(text, maxLineLength);
      const current = minuteOf(environmentId);
      current.characters += line.length;
      if (current.characters > errorCharactersPerMinute) current.dropped += 1;
      else writeError(environmentId, line);
    },
    async close() {
      for (const environmentId of [...minutes.keys()]) endMinute(environmentId);
      await files.flush();
      // The first flush may add lines that report lost ones.
      await files.flush();
    },
  };
}
