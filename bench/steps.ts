/** Durations of operation steps, read from the journal. */
import { readRun } from "@sitewright/supervisor/records.ts";
import pg from "pg";

const query = `
  select milliseconds from operation_outcomes where operation_id = $1 and part = $2`;

/** `data` is the data folder of a running installation. Throws if the operation has not run that step. */
export async function stepMilliseconds(data: string, operationId: string, step: string): Promise<number> {
  const run = readRun(data);
  if (run === null) throw new Error(`No installation is running on ${data}`);
  const client = new pg.Client({ connectionString: run.database_url });
  await client.connect();
  try {
    const { rows } = await client.query<{ milliseconds: number | null }>(query, [operationId, `run ${step}`]);
    const milliseconds = rows[0]?.milliseconds;
    if (typeof milliseconds !== "number") throw new Error(`${operationId} has not run the step ${step}`);
    return milliseconds;
  } finally {
    await client.end();
  }
}
