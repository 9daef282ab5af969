/** Changes the address of a WordPress, in databases that are not in use. */
import { DatabaseSync } from "node:sqlite";
import type { AddressChange } from "../../runtime.ts";
import { addressChanger } from "../../site/values/addressChanger.ts";
import { quoted } from "../findPlaceholders.ts";
import { siteTables } from "../tables.ts";
import { makeCommitsDurable } from "../withDatabase.ts";
import { hasTable } from "../wordpressTables.ts";
import { changeAddresses } from "./addresses.ts";

interface AddressColumns {
  /** The last column contains the address. */
  readonly columns: readonly string[];
  readonly where: string;
}

/** Columns in which WordPress stores its own address, its networks and their sites. */
const addressColumns: readonly AddressColumns[] = [
  { columns: ["option_name", "option_value"], where: "option_name IN ('siteurl', 'home')" },
  { columns: ["site_id", "meta_key", "meta_value"], where: "meta_key = 'siteurl'" },
  { columns: ["blog_id", "domain"], where: "TRUE" },
  { columns: ["id", "path", "domain"], where: "TRUE" },
];

/** Longer values are not addresses. */
const maxValueLength = 2_000;

function distinctValues(database: DatabaseSync, table: string, column: string, where: string): string[] {
  const select = `SELECT DISTINCT ${column} AS value FROM ${quoted(table)}
    WHERE ${where} AND typeof(${column}) = 'text' AND length(${column}) <= ${maxValueLength}`;
  return database
    .prepare(select)
    .all()
    .map(({ value }) => String(value));
}

/** Returns scheme, host and port of a text, or null if it is not an HTTP address. */
function originOf(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, origin } = new URL(text);
  return protocol === "http:" || protocol === "https:" ? origin : null;
}

/**
 * Returns all changes: the address may have been changed within WordPress, so the addresses that it uses become the new
 * one, too.
 */
function allChanges(file: string, prefix: string, change: AddressChange): readonly AddressChange[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const table = `${prefix}options`;
    if (!hasTable(database, table, ["option_name", "option_value"])) return [change];
    const values = distinctValues(database, table, "option_value", "option_name IN ('siteurl', 'home')");
    const origins = values.map(originOf).filter((origin) => origin !== null);
    const others = new Set(origins.filter((origin) => origin !== change.from && origin !== change.to));
    return [change, ...[...others].map((from) => ({ from, to: change.to }))];
  } finally {
    database.close();
  }
}

function changeColumns(file: string, changes: readonly AddressChange[]): void {
  const change = addressChanger(changes);
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  try {
    makeCommitsDurable(database);
    database.exec("BEGIN IMMEDIATE");
    for (const table of siteTables(database)) {
      for (const { columns, where } of addressColumns) {
        if (!columns.every((column) => table.columns.includes(column))) continue;
        const column = columns.at(-1) ?? "";
        const update = database.prepare(
          `UPDATE ${quoted(table.name)} SET ${column} = ?1 WHERE ${column} = ?2 AND ${where}`,
        );
        for (const value of distinctValues(database, table.name, column, where)) {
          const changed = change(value);
          if (changed !== value) update.run(changed, value);
        }
      }
    }
    database.exec("COMMIT");
  } finally {
    database.close();
  }
}

interface SiteMove {
  /** Path of the database that WordPress uses. */
  readonly main: string;
  /** Paths of all databases, including that one. */
  readonly all: readonly string[];
  /** Prefix of WordPress's table names. */
  readonly prefix: string;
  readonly change: AddressChange;
  readonly isEverywhere: boolean;
}

/** Changes the address in all databases, or only where WordPress stores it. */
export function moveSite({ main, all, prefix, change, isEverywhere }: SiteMove): void {
  const changes = all.includes(main) ? allChanges(main, prefix, change) : [change];
  if (isEverywhere) for (const file of all) changeAddresses(file, changes);
  else if (all.includes(main)) changeColumns(main, changes);
}
