/** The version of what a company's lists of sites and domains show. */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { Database } from "./database.ts";

interface Versioned {
  /** Null for a company that does not exist. */
  readonly version: string | null;
}

/**
 * Returns the version, which is new after each change of the company's sites, environments, domains and locks. Read it before
 * the list: if the list changes while it is read, it is then sent with the old version, and read again the next time.
 */
export async function readListVersion(pool: Pool, companyId: string): Promise<string> {
  const { rows } = await pool.query<Versioned>({
    name: "list-version",
    text: "select md5(string_agg(mark::text, '' order by mark)) as version from list_changes where company_id = $1",
    values: [companyId],
  });
  return rows[0]?.version ?? "";
}

/** Replaces the marks of companies that have many by a new one. */
export async function mergeListChanges(database: Database, maxMarks: number): Promise<void> {
  // A mark that is being added at this moment is not seen, and stays.
  await sql`
    with many as (select company_id from list_changes group by company_id having count(*) > ${maxMarks}),
      merged as (delete from list_changes l using many where l.company_id = many.company_id)
    insert into list_changes (company_id) select company_id from many`.execute(database);
}
