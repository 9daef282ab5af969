/**
 * The connection to PostgreSQL, opened once by each process that needs it.
 */
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Database, Tables } from "./database.ts";

export interface OpenDatabase {
  readonly database: Database;
  /** The same connections without Kysely: named statements of hot reads, advisory locks. */
  readonly pool: pg.Pool;
  /** Waits for connections in use to come back, then ends them. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Connections at most; 10 unless told. */
  readonly connections?: number;
  /** Told of a connection that was lost, perhaps twice. The next query opens another. */
  readonly onConnectionLost?: (error: Error) => void;
}

const int8 = 20;

/**
 * How values are read. A bigint becomes a number: the ids of activity entries and counts stay far below 2^53,
 * and the interface shows them as numbers. A bigint beyond that is an error rather than a wrong number.
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
 * A connection that is lost is reported to `onConnectionLost` and replaced; without that listener node-postgres
 * would end the process.
 */
export function openDatabase(url: string, options: OpenOptions = {}): OpenDatabase {
  const pool = openPool(url, options);
  const database = databaseOn(pool);
  return { database, pool, close: () => database.destroy() };
}

/** A pool as Kysely sees it. */
export function databaseOn(pool: pg.Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** A pool alone, for what brings its own SQL. The caller ends it. */
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
