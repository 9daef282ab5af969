/** Facts about the whole installation that only its operators see, besides `installationMetrics.ts`. */
import { sql } from "kysely";
import type { Database } from "./database.ts";

export interface InstallationFacts {
  readonly companies: number;
  readonly backups: number;
  /** Size of all packs in the archive store. */
  readonly packBytes: number;
  readonly databaseBytes: number;
  /** Version of PostgreSQL. */
  readonly databaseVersion: string;
}

export async function readInstallationFacts(database: Database): Promise<InstallationFacts> {
  const { rows } = await sql<InstallationFacts>`
    select (select count(*)::int from companies) as companies,
      (select count(*)::int from backups where manifest is not null) as backups,
      (select coalesce(sum(bytes), 0)::float8 from packs where state = 'kept') as "packBytes",
      pg_database_size(current_database())::float8 as "databaseBytes",
      split_part(current_setting('server_version'), ' ', 1) as "databaseVersion"`.execute(database);
  const [row] = rows;
  if (row === undefined) throw new Error("The database returned no row");
  return row;
}
