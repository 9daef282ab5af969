/** The fake runtime's database: tables with rows in a JSON file. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type AddressChange, type ProvisionSpec, type RowCounts, RuntimeFailure } from "../runtime.ts";

export type Tables = Readonly<Record<string, readonly unknown[]>>;

function isTables(value: unknown): value is Tables {
  return typeof value === "object" && value !== null && Object.values(value).every(Array.isArray);
}

function fileIn(folder: string): string {
  return path.join(folder, "database.json");
}

function parseTables(json: string): Tables {
  const parsed: unknown = JSON.parse(json);
  if (!isTables(parsed)) throw new Error("A fake database is damaged.");
  return parsed;
}

/** Reads all tables. `folder` is the release's part `database`. */
export async function readTables(folder: string): Promise<Tables> {
  return parseTables(await readFile(fileIn(folder), "utf8"));
}

export async function writeTables(folder: string, tables: Tables): Promise<void> {
  await writeFile(fileIn(folder), JSON.stringify(tables));
}

/** Returns a small part of the tables of a new WordPress. */
export function newTables({ wordpress }: ProvisionSpec): Tables {
  if (wordpress === null) return {};
  return {
    wp_options: [
      { option_name: "siteurl", option_value: wordpress.address },
      { option_name: "blogname", option_value: wordpress.title },
    ],
    wp_users: [{ id: 1, login: wordpress.adminUser, email: wordpress.adminEmail, isAdministrator: true }],
    wp_posts: [{ ID: 1, post_title: "Hello world!", guid: `${wordpress.address}/?p=1` }],
  };
}

/** Replaces addresses in JSON text. They contain no characters that JSON escapes. */
export function changeAddresses(json: string, addresses: readonly AddressChange[]): string {
  return addresses.reduce((changed, { from, to }) => changed.replaceAll(from, to), json);
}

/**
 * Returns the named tables, or all of them if `tables` is null. Throws `RuntimeFailure` naming the first missing table.
 */
function pickTables(all: Tables, tables: readonly string[] | null): Tables {
  const picked = (tables ?? Object.keys(all)).map((table) => {
    const rows = all[table];
    if (rows === undefined) throw new RuntimeFailure(`The source has no table "${table}".`);
    return [table, rows] as const;
  });
  return Object.fromEntries(picked);
}

/** Returns the picked tables of the source with the new addresses. */
export function incomingTables(
  source: Tables,
  tables: readonly string[] | null,
  addresses: readonly AddressChange[],
): Tables {
  return parseTables(changeAddresses(JSON.stringify(pickTables(source, tables)), addresses));
}

/**
 * Counts rows by table that only `own` has, compared by content, highest count first. Leaves out tables that lose
 * nothing.
 */
export function lostRows(
  own: Tables,
  incoming: Tables,
  tables: readonly string[] | null,
): readonly { readonly table: string; readonly rows: number }[] {
  return Object.entries(own)
    .filter(([table]) => tables === null || tables.includes(table))
    .map(([table, rows]) => {
      const theirs = new Set((incoming[table] ?? []).map((row) => JSON.stringify(row)));
      return { table, rows: rows.filter((row) => !theirs.has(JSON.stringify(row))).length };
    })
    .filter(({ rows }) => rows > 0)
    .toSorted((one, other) => other.rows - one.rows);
}

export function countRows(tables: Tables): RowCounts {
  return Object.fromEntries(Object.entries(tables).map(([table, rows]) => [table, rows.length]));
}
