/** Opens the connection to PostgreSQL, once per process. */
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Database, Tables } from "./database.ts";

export interface OpenDatabase {
  readonly database: Database;
  /** The same pool without Kysely, for named statements of hot reads and for advisory locks. */
  readonly pool: pg.Pool;
  /** Waits until connections in use are released, then closes the pool. */
  close(): Promise<void>;
}

interface OpenOptions {
  /** Maximum number of connections; default 10. */
  readonly connections?: number;
  /** Called when a connection is lost, possibly twice. The next query opens another. */
  readonly onConnectionLost?: (error: Error) => void;
}

const int8 = 20;

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
 * would end the process.
 */
export function openDatabase(url: string, options: OpenOptions = {}): OpenDatabase {
  const pool = openPool(url, options);
  const database = databaseOn(pool);
  return { database, pool, close: () => database.destroy() };
}

/** Wraps a pool in Kysely. */
export function databaseOn(pool: pg.Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** Opens only a pool, for callers with their own SQL. The caller closes it. */
export function openPool(url: string, options: OpenOptions & { readonly types?: pg.CustomTypesConfig } = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connections ?? 10,
    types: options.types ?? types,
    connectionTimeoutMillis: 10_000,
    application_name: "sitewright",
  });
  const report = (error: Error) => options.onConnectionLost?.(error);
  // The pool listens to idle connections. A connection lost in use fails its query, and is reported too.
  pool.on("error", report);
  pool.on("connect", (client) => client.on("error", report));
  return pool;
}
