/**
 * One embedded PostgreSQL for a test run, with a migrated template database that tests clone.
 *
 * Vitest's global setup calls `startTestPostgres`, which passes the address to the test processes in an environment
 * variable; tests call `createTestDatabase` of `database.ts`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@sitewright/supervisor/postgres/postgres.ts";
import pg from "pg";
import { migrate } from "../store/migrate.ts";
import { openPool } from "../store/open.ts";

/** Environment variable with the address of the maintenance database, for `createTestDatabase`. */
export const testPostgresVariable = "SITEWRIGHT_TEST_POSTGRES";
/** Has the newest schema and no rows. No one may be connected to it while it is cloned. */
export const templateDatabase = "sitewright_template";

export interface TestPostgres {
  /** Address of the maintenance database. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Test databases need not survive a power failure, and waiting for the disk takes a third of the time. Killing our own
 * processes or PostgreSQL still loses nothing: the operating system has every written page.
 */
const settings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  // It would visit hundreds of short-lived databases.
  autovacuum: "off",
  shared_buffers: "128MB",
  // Several test files run at once, and each has several engines and pools.
  max_connections: "1000",
};

/** Starts the server in a temporary folder, creates the template and sets `SITEWRIGHT_TEST_POSTGRES`. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "swtest-"));
  const server = await startPostgres({
    dataDirectory: join(folder, "data"),
    runDirectory: join(folder, "run"),
    settings,
  });
  await createTemplate(server.url);
  process.env[testPostgresVariable] = server.url;
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function createTemplate(url: string): Promise<void> {
  await run(url, `create database ${templateDatabase}`);
  const pool = openPool(databaseUrl(url, templateDatabase), { connections: 1 });
  await migrate(pool);
  await pool.end();
}

/** Returns the address of another database on the same server. */
export function databaseUrl(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Runs one statement on a new connection: `create database` can't be part of a transaction. */
export async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
