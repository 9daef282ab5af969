/**
 * One embedded PostgreSQL for a run of tests, with a migrated template database that tests clone.
 *
 * Vitest's global set-up calls `startTestPostgres` and hands the address to the test processes in the
 * environment; tests call `createTestDatabase` of `database.ts`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@sitewright/supervisor/postgres/postgres.ts";
import pg from "pg";
import { migrate } from "../store/migrate.ts";
import { openPool } from "../store/open.ts";

/** Where `createTestDatabase` finds the server: the address of its maintenance database. */
export const testPostgresVariable = "SITEWRIGHT_TEST_POSTGRES";
/** Empty but for the newest schema. Nobody may be connected to it while it is cloned. */
export const templateDatabase = "sitewright_template";

export interface TestPostgres {
  /** Address of the maintenance database. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Test databases need not survive a power failure, and waiting for the disk takes a third of the time. Killing our own
 * processes, or PostgreSQL, still loses nothing: the operating system has every page that was written.
 */
const settings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  shared_buffers: "128MB",
  // Several test files run at once, and each has several engines and pools.
  max_connections: "1000",
};

/** Starts the server in a temporary folder, makes the template and sets `SITEWRIGHT_TEST_POSTGRES`. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "swtest-"));
  const server = await startPostgres({
    dataDirectory: join(folder, "data"),
    runDirectory: join(folder, "run"),
    settings,
  });
  await makeTemplate(server.url);
  process.env[testPostgresVariable] = server.url;
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function makeTemplate(url: string): Promise<void> {
  await run(url, `create database ${templateDatabase}`);
  const pool = openPool(databaseUrl(url, templateDatabase), { connections: 1 });
  await migrate(pool);
  await pool.end();
}

/** The same server, another database. */
export function databaseUrl(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** One statement on a connection of its own: `create database` can't be part of a transaction. */
export async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
