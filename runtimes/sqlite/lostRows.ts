/** Counts the rows that a push would delete, because only the target has them. */
import { DatabaseSync } from "node:sqlite";
import type { StageChanges } from "../runtime.ts";
import { quoted } from "./findPlaceholders.ts";
import { siteTables, type Table } from "./tables.ts";

/** How long a reader waits for a writer. */
const lockTimeoutMilliseconds = 10_000;

interface VolatileRows {
  readonly tables: RegExp;
  readonly column: string;
  readonly condition: string;
}

/** Rows that WordPress caches, reschedules or lets expire without harm. They differ between any two sites. */
const volatileRows: readonly VolatileRows[] = [
  {
    tables: /^wp_(?:\d+_)?options$/,
    column: "option_name",
    condition: String.raw`own.option_name LIKE '\_transient\_%' ESCAPE '\' OR own.option_name LIKE '\_site\_transient\_%' ESCAPE '\'
      OR own.option_name = 'cron'`,
  },
  {
    tables: /^wp_sitemeta$/,
    column: "meta_key",
    condition: String.raw`own.meta_key LIKE '\_site\_transient\_%' ESCAPE '\'`,
  },
  { tables: /^wp_usermeta$/, column: "meta_key", condition: "own.meta_key = 'session_tokens'" },
];

function countedRows(table: Table): string {
  const found = volatileRows.find(({ tables, column }) => tables.test(table.name) && table.columns.includes(column));
  return found === undefined ? "TRUE" : `(${found.condition}) IS NOT TRUE`;
}

/**
 * Counts rows whose key the source doesn't have, or has with other content: both sides of a clone continue with the
 * same number. Uses `IS`, because a value may be NULL.
 */
function lostByKey(table: Table): string {
  const sameKey = table.primaryKey.map((column) => `other.${quoted(column)} IS own.${quoted(column)}`);
  // Compares bytes, regardless of the column's collation. Only the key is looked up, with its own index.
  const sameValues = table.columns.map((column) => `other.${quoted(column)} IS own.${quoted(column)} COLLATE BINARY`);
  const same = [...sameKey, ...sameValues].join(" AND ");
  const name = quoted(table.name);
  return `SELECT count(*) AS rows FROM main.${name} AS own
    WHERE ${countedRows(table)} AND NOT EXISTS (SELECT 1 FROM source.${name} AS other WHERE ${same})`;
}

/** Counts rows whose content the source doesn't have, duplicates included: groups the rows of both by content. */
function lostByContent(table: Table): string {
  const columns = table.columns.map(quoted).join(", ");
  const content = table.columns.map((column) => `${quoted(column)} COLLATE BINARY`).join(", ");
  const name = quoted(table.name);
  return `SELECT coalesce(sum(own), 0) AS rows FROM (
    SELECT sum(is_own) AS own, min(is_own) AS only_own FROM (
      SELECT ${columns}, 1 AS is_own FROM main.${name} AS own WHERE ${countedRows(table)}
      UNION ALL SELECT ${columns}, 0 FROM source.${name}
    ) GROUP BY ${content}
  ) WHERE only_own = 1`;
}

function query(table: Table, source: Table | undefined): string {
  if (source === undefined || !table.columns.every((column) => source.columns.includes(column))) {
    return `SELECT count(*) AS rows FROM main.${quoted(table.name)} AS own WHERE ${countedRows(table)}`;
  }
  // With a key that the source doesn't have, every row would need a full scan.
  const isSameKey = table.primaryKey.length > 0 && table.primaryKey.join("\n") === source.primaryKey.join("\n");
  return isSameKey ? lostByKey(table) : lostByContent(table);
}

/**
 * Counts, for each of the environment's tables or of those in `tables`, the rows that the source doesn't have with the
 * same primary key and content, or with the same content if there is no key. A row that was edited on either side
 * counts, because the newer version is unknown. Texts are compared as they are: the source should already have the new
 * addresses. If a table has columns that the source doesn't have, all its rows count; if `sourceDatabase` is null, all
 * rows of all tables. Transients, WP-Cron events and sessions are ignored. Sorted by number of rows, highest first;
 * tables that lose nothing are left out. Both files are only read and may be in use.
 */
export function lostRows(
  ownDatabase: string,
  sourceDatabase: string | null,
  tables: readonly string[] | null,
): StageChanges["lost"] {
  const database = new DatabaseSync(ownDatabase, { readOnly: true, timeout: lockTimeoutMilliseconds });
  try {
    database.prepare("ATTACH ? AS source").run(sourceDatabase ?? ":memory:");
    const theirs = new Map(siteTables(database, "source").map((table) => [table.name, table]));
    return siteTables(database)
      .filter(({ name }) => tables?.includes(name) ?? true)
      .map((table) => {
        const rows = database.prepare(query(table, theirs.get(table.name))).get()?.rows;
        return { table: table.name, rows: Number(rows) };
      })
      .filter(({ rows }) => rows > 0)
      .toSorted((one, other) => other.rows - one.rows);
  } finally {
    database.close();
  }
}
