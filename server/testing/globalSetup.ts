/** Vitest's `globalSetup` for every test that needs PostgreSQL. */
import { startTestPostgres, type TestPostgres } from "./postgres.ts";

let server: TestPostgres | undefined;

export async function setup(): Promise<void> {
  server = await startTestPostgres();
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
