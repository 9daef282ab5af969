/** The embedded PostgreSQL as a service. */
import type { LogFile } from "../logFile.ts";
import { type Service, StartFailed } from "../service.ts";
import { startPostgres } from "./postgres.ts";

interface PostgresProgram {
  readonly dataDirectory: string;
  readonly runDirectory: string;
  readonly log: LogFile;
  /** Called with the database URL after each start. The URL never changes. */
  readonly ready: (url: string) => void;
  /** Called when someone else tells PostgreSQL to end. It then waits until all clients have disconnected. */
  readonly ending: () => void;
}

/** PostgreSQL's answer to SIGTERM. We stop it in another way. */
const endingLine = "received smart shutdown request";

export function postgresService({ dataDirectory, runDirectory, log, ready, ending }: PostgresProgram): Service {
  const write = (line: string) => {
    log.write(line);
    if (line.endsWith(endingLine)) ending();
  };
  return {
    name: "PostgreSQL",
    logPath: log.path,
    async start() {
      try {
        const server = await startPostgres({ dataDirectory, runDirectory, log: write });
        ready(server.url);
        return server;
      } catch (error) {
        throw new StartFailed(error instanceof Error ? error.message : String(error), { cause: error });
      }
    },
  };
}
