/** A process under the supervisor: reports when it is ready, and stops on request or when the supervisor is gone. */
import { ConfigError } from "./settings/config.ts";

const postgresPort = 5432;

interface RunningProcess {
  /** Sent to the supervisor with the ready message. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Resolves when the process can't continue. */
  readonly lost?: Promise<Error>;
  stop(): Promise<void>;
}

/** A startup failure that the operator can fix; the message says how. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

/**
 * Runs `start`, sends the supervisor `{ type: "ready" }` with the facts, and stops on SIGTERM, on SIGINT and when the IPC
 * channel closes because the supervisor was killed. Exits with 0 after a clean stop, or with 1 and the reason on standard
 * error if the start failed or the process was lost.
 */
export async function runSupervised(start: () => Promise<RunningProcess>): Promise<void> {
  const stopping = Promise.withResolvers<"stop">();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopping.resolve("stop"));
  process.on("disconnect", () => stopping.resolve("stop"));
  try {
    const running = await start();
    process.send?.({ type: "ready", ...running.facts });
    const end = await Promise.race([stopping.promise, running.lost ?? stopping.promise]);
    if (end !== "stop") fail(new Error("This process can't continue; another one takes over", { cause: end }));
    await running.stop();
    process.exit(0);
  } catch (error) {
    fail(error);
  }
}

/**
 * A sentence if `error` means that the database at `databaseUrl` can't be reached, otherwise null. Contains only the host and
 * port of the URL; the rest is secret.
 */
export function databaseUnreachable(error: Error, databaseUrl: string | undefined): string | null {
  if (databaseUrl === undefined || !URL.canParse(databaseUrl)) return null;
  const { hostname, port, searchParams } = new URL(databaseUrl);
  // A Unix socket, as of the embedded PostgreSQL: there is no address to check.
  if (searchParams.has("host")) return null;
  const reason = connectionFailure(error, hostname, Number(port || postgresPort));
  if (reason === null) return null;
  return `The database at ${hostname}:${port || postgresPort} can't be reached (${reason}). Check DATABASE_URL.`;
}

/** The reason, if the error belongs to a connection to this host and port. A name with several addresses has an error for each. */
function connectionFailure(error: Error, hostname: string, port: number): string | null {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  if (!(first instanceof Error)) return null;
  // Messages of node-postgres, which have no code.
  if (/^(timeout expired|Connection terminated due to connection timeout)$/.test(first.message)) return "no answer";
  if (!("code" in first)) return null;
  const isConnect = "port" in first && first.port === port;
  const isLookup = "hostname" in first && first.hostname === hostname;
  return isConnect || isLookup ? String(first.code) : null;
}

function fail(error: unknown): never {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
}

/** Only the message if it is meant for the operator; otherwise all details. */
function explain(error: unknown): string {
  if (error instanceof CannotStart || error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const unreachable = databaseUnreachable(error, process.env.DATABASE_URL);
  if (unreachable !== null) return unreachable;
  const cause = error.cause === undefined ? "" : `\nCaused by: ${explain(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
