/** Opens the connection to PostgreSQL, once per process. */
import { type CompiledQuery, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Database, Tables } from "./database.ts";
import { repeatRead, waitMilliseconds } from "./outages.ts";
import { WaitingPool } from "./waitingPool.ts";

export interface OpenDatabase {
  readonly database: Database;
  /** The same pool without Kysely, for named statements of hot reads and for advisory locks. */
  readonly pool: pg.Pool;
  /** From now on, queries fail at once if the database can't be reached. */
  stopWaiting(): void;
  /** Waits until connections in use are released, then closes the pool. */
  close(): Promise<void>;
}

interface OpenOptions {
  /** Maximum number of connections; default 10. */
  readonly connections?: number;
  /** How long queries wait for a connection. Absent: 15,000. */
  readonly waitMilliseconds?: number;
  /** Called when a connection is lost, possibly twice. The next query opens another. */
  readonly onConnectionLost?: (error: Error) => void;
}

const int8 = 20;
/** For a new connection, or one that others use. */
const maxConnectMilliseconds = 10_000;
/**
 * A new connection costs the request that waits for it 30 ms: PostgreSQL starts a process, which reads its catalogue. So idle
 * connections are kept. The pool takes the one that was used last, so only surplus connections are idle for so long and are closed.
 */
const idleTimeoutMillis = 300_000;
/** A connection without traffic for this long is checked. */
const keepAliveInitialDelayMillis = 10_000;

/**
 * Parses a bigint as a number: ids of activity entries and counts stay far below 2^53, and the API shows them as
 * numbers. Throws for larger values rather than return a wrong number.
 */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === int8 && format !== "binary") return parseSafeInteger;
    return pg.types.getTypeParser(oid, format);
  },
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The bigint ${text} does not fit a JavaScript number`);
  return value;
}

/**
 * Opens a pool on `url` (`postgresql://…`, a Unix socket folder as `?host=/folder`). Connects on first use.
 * A lost connection is reported to `onConnectionLost` and replaced; without that listener node-postgres
 * would end the process. While PostgreSQL restarts, queries wait: see `outages.ts`.
 */
export function openDatabase(url: string, options: OpenOptions = {}): OpenDatabase {
  const pool = openPool(url, options);
  const database = databaseOn(pool);
  return { database, pool, stopWaiting: () => pool.stopWaiting(), close: () => database.destroy() };
}

/** Wraps a pool in Kysely. Reads outside of transactions are repeated if their connection was lost. */
export function databaseOn(pool: pg.Pool): Database {
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  // Transactions get an executor of their own.
  const executor = database.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  const value = (query: CompiledQuery, options?: Parameters<typeof execute>[1]) =>
    repeatRead(query.sql, () => execute(query, options));
  Object.defineProperty(executor, "executeQuery", { value });
  return database;
}

/** Opens only a pool, for callers with their own SQL. The caller closes it. */
export function openPool(
  url: string,
  options: OpenOptions & { readonly types?: pg.CustomTypesConfig } = {},
): WaitingPool {
  const wait = options.waitMilliseconds ?? waitMilliseconds;
  const pool = new WaitingPool({
    connectionString: url,
    max: options.connections ?? 10,
    types: options.types ?? types,
    connectionTimeoutMillis: Math.min(wait, maxConnectMilliseconds),
    // The system closes connections whose other end has vanished without a word.
    keepAlive: true,
    idleTimeoutMillis,
    keepAliveInitialDelayMillis,
    application_name: "sitewright",
    waitMilliseconds: wait,
  });
  const report = (error: Error) => options.onConnectionLost?.(error);
  // The pool listens to idle connections. A connection lost in use fails its query, and is reported too.
  pool.on("error", report);
  pool.on("connect", (client) => client.on("error", report));
  return pool;
}
