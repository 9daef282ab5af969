/** The embedded PostgreSQL as a service. */
import type { LogFile } from "../logFile.ts";
import { type Service, StartFailed } from "../service.ts";
import { startPostgres } from "./postgres.ts";

export interface PostgresProgram {
  readonly dataDirectory: string;
  readonly runDirectory: string;
  readonly log: LogFile;
  /** Called with the database URL after each start. The URL never changes. */
  readonly ready: (url: string) => void;
}

export function postgresService({ dataDirectory, runDirectory, log, ready }: PostgresProgram): Service {
  return {
    name: "PostgreSQL",
    logPath: log.path,
    async start() {
      try {
        const server = await startPostgres({ dataDirectory, runDirectory, log: log.write });
        ready(server.url);
        return server;
      } catch (error) {
        throw new StartFailed(error instanceof Error ? error.message : String(error), { cause: error });
      }
    },
  };
}
