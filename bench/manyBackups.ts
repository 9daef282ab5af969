/** Creates an environment with many backups, to measure lists. */
import { readRun } from "@sitewright/supervisor/records.ts";
import pg from "pg";

const columnsOf = `
  select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
   where table_schema = current_schema and table_name = 'backups' and column_name not in ('id', 'operation_id')`;

/**
 * Adds `count` copies of a finished backup's row while `work` runs. Real backups would take minutes, and a list reads
 * only the rows. `data` is the data folder of a running installation.
 */
export async function withManyBackups<T>(
  data: string,
  backupId: number,
  count: number,
  work: () => Promise<T>,
): Promise<T> {
  const run = readRun(data);
  if (run === null) throw new Error(`No installation is running on ${data}`);
  const client = new pg.Client({ connectionString: run.database_url });
  await client.connect();
  try {
    const { rows } = await client.query<{ columns: string }>(columnsOf);
    const columns = rows[0]?.columns;
    await client.query(
      `insert into backups (operation_id, ${columns})
       select 'bench:' || gen_random_uuid(), ${columns} from backups, generate_series(1, $2) where id = $1`,
      [backupId, count],
    );
    await client.query("analyze backups");
    return await work();
  } finally {
    await client.query("delete from backups where operation_id like 'bench:%'");
    await client.end();
  }
}
