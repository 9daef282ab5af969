/** Vitest's `globalSetup` for tests that need PostgreSQL: one server for all projects of a run. */
import { startTestPostgres, type TestPostgres, testPostgresVariable } from "./postgres.ts";

let server: TestPostgres | undefined;

export async function setup(): Promise<void> {
  if (process.env[testPostgresVariable] === undefined) server = await startTestPostgres();
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
