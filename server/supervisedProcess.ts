/** A process that the supervisor started: says when it is ready, and ends when it is told to or left alone. */
import { ConfigError } from "./settings/config.ts";

const postgresPort = 5432;

export interface RunningProcess {
  /** What the supervisor may want to know, sent with the ready message. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Resolves when the process can't go on. */
  readonly lost?: Promise<Error>;
  stop(): Promise<void>;
}

/** A start that the person can mend; the message says how. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

/**
 * Runs `start`, tells the supervisor `{ type: "ready" }` with the facts of the part, and stops on SIGTERM, on SIGINT and when the IPC channel
 * closes, which is how it learns that the supervisor was killed. Ends the process: 0 after a clean stop, 1 where
 * the start failed or the part was lost, with the reason on standard error.
 */
export async function runSupervised(start: () => Promise<RunningProcess>): Promise<void> {
  const asked = Promise.withResolvers<"asked">();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => asked.resolve("asked"));
  process.on("disconnect", () => asked.resolve("asked"));
  try {
    const part = await start();
    process.send?.({ type: "ready", ...part.facts });
    const end = await Promise.race([asked.promise, part.lost ?? asked.promise]);
    if (end !== "asked") fail(new Error("This process can't go on; another one takes over", { cause: end }));
    await part.stop();
    process.exit(0);
  } catch (error) {
    fail(error);
  }
}

/**
 * A sentence where `error` says that nothing answers at the address of `databaseUrl`, otherwise null. It has
 * the host and the port; the rest of the URL is secret.
 */
export function databaseUnreachable(error: Error, databaseUrl: string | undefined): string | null {
  if (databaseUrl === undefined || !URL.canParse(databaseUrl)) return null;
  const { hostname, port, searchParams } = new URL(databaseUrl);
  // A socket, such as the embedded PostgreSQL's, for which nobody has set an address.
  if (searchParams.has("host")) return null;
  const reason = whyNotReached(error, hostname, Number(port || postgresPort));
  if (reason === null) return null;
  return `The database at ${hostname}:${port || postgresPort} can't be reached (${reason}). Check DATABASE_URL.`;
}

/** A name with several addresses gives one error for each of them. Others that we connect to have no port, or another one. */
function whyNotReached(error: Error, hostname: string, port: number): string | null {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  if (!(first instanceof Error)) return null;
  // In the words of node-postgres, for which there is no code.
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

/** Only the sentence where it is meant for the person; otherwise all there is. */
function explain(error: unknown): string {
  if (error instanceof CannotStart || error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const unreachable = databaseUnreachable(error, process.env.DATABASE_URL);
  if (unreachable !== null) return unreachable;
  const cause = error.cause === undefined ? "" : `\nCaused by: ${explain(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
