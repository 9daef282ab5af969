/** The embedded PostgreSQL as a part. */
import type { LogFile } from "../logFile.ts";
import { EndedEarly, type Part } from "../part.ts";
import { startPostgres } from "./postgres.ts";

export interface PostgresProgram {
  readonly dataDirectory: string;
  readonly runDirectory: string;
  readonly log: LogFile;
  /** Called with its address after each start; it is the same each time. */
  readonly ready: (url: string) => void;
}

export function postgresPart({ dataDirectory, runDirectory, log, ready }: PostgresProgram): Part {
  return {
    name: "PostgreSQL",
    logPath: log.path,
    async start() {
      try {
        const server = await startPostgres({ dataDirectory, runDirectory, log: log.write });
        ready(server.url);
        return server;
      } catch (error) {
        throw new EndedEarly(error instanceof Error ? error.message : String(error), { cause: error });
      }
    },
  };
}
