/** How long the steps of operations took, as their journal has it. */
import { openDatabase } from "@sitewright/server/store/open.ts";
import { readRun } from "@sitewright/supervisor/records.ts";

/** `data` is the data folder of a running installation. Throws where that operation had no such step, or not yet. */
export async function stepMilliseconds(data: string, operationId: string, step: string): Promise<number> {
  const url = readRun(data)?.database_url;
  if (url === undefined) throw new Error(`Nothing runs on ${data}`);
  const { pool, close } = openDatabase(url);
  try {
    const { rows } = await pool.query<{ milliseconds: number | null }>(
      `select completed_at_epoch_ms - started_at_epoch_ms as milliseconds
         from dbos.operation_outputs where workflow_uuid = $1 and function_name = $2`,
      [operationId, `run ${step}`],
    );
    const milliseconds = rows[0]?.milliseconds;
    if (typeof milliseconds !== "number") throw new Error(`${operationId} had no step ${step}`);
    return milliseconds;
  } finally {
    await close();
  }
}
