/** Only the store contains queries: no other production code of the server writes SQL or builds a query. */
import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const isElsewhere = (file: string): boolean =>
  !file.startsWith("server/store/") && !/\.test\.ts$|(^|\/)testing\//.test(file);

const queries: readonly RegExp[] = [
  /\.(selectFrom|selectNoFrom|insertInto|replaceInto|updateTable|deleteFrom|mergeInto)\(/,
  /\bsql(<[^`]*>)?`/,
  /\bsql\s*\.\s*(raw|val|ref|table|id|lit|join)\(/,
  /\.query(<[^(]*>)?\(/,
  /\bimport (?!type\b)[^;]*from "(kysely|pg)"/,
];

function findQueries(source: string): string[] {
  return queries.flatMap((pattern) => pattern.exec(source)?.[0] ?? []);
}

describe("SQL outside the store", () => {
  it.each([
    'await database.selectFrom("companies").execute()',
    "await sql`select 1`.execute(database)",
    "await sql<Row>`select 1`.execute(database)",
    "sql.raw(text)",
    'await client.query("commit")',
    'await pool.query<Row>("select 1")',
    'import { type Kysely, sql } from "kysely";',
    'import pg from "pg";',
  ])("is recognized: %s", (source) => {
    expect(findQueries(source)).not.toEqual([]);
  });

  it("does not occur in the server", () => {
    const files = globSync("server/**/*.ts").filter(isElsewhere);
    const found = files.filter((file) => findQueries(readFileSync(file, "utf8")).length > 0);
    expect(files.length).toBeGreaterThan(300);
    expect(found).toEqual([]);
  });
});
