/** Replaces text in every string of every row. A release records what was replaced in it. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { sharePart } from "../releaseMoves.ts";
import { partOf, type Release, writeRecord } from "../releases.ts";
import type { Replacements, TextChange } from "../runtime.ts";
import { readTables, type Tables, writeTables } from "./database.ts";
import { specOf, writeSpec } from "./release.ts";

type Place = Replacements["places"][number];

function isRow(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function replaceIn(
  tables: Tables,
  { search, replace }: TextChange,
): { readonly tables: Tables; readonly replacements: Replacements } {
  const places = new Map<string, Place>();
  const addresses: Replacements["addresses"][number][] = [];
  const replaced = (table: string, column: string, value: unknown, row: Readonly<Record<string, unknown>>) => {
    if (typeof value !== "string" || !value.includes(search)) return value;
    const before = places.get(`${table} ${column}`) ?? { table, column, rows: 0, occurrences: 0 };
    const occurrences = before.occurrences + value.split(search).length - 1;
    places.set(`${table} ${column}`, { table, column, rows: before.rows + 1, occurrences });
    const to = value.replaceAll(search, () => replace);
    if (row.option_name === "siteurl") addresses.push({ place: `${table}: siteurl`, from: value, to });
    return to;
  };
  const changed = Object.entries(tables).map(([table, rows]) => {
    const all = rows.map((row) =>
      isRow(row)
        ? Object.fromEntries(Object.entries(row).map(([name, value]) => [name, replaced(table, name, value, row)]))
        : row,
    );
    return [table, all] as const;
  });
  const skipped = { occurrences: 0, listed: [] };
  return { tables: Object.fromEntries(changed), replacements: { places: [...places.values()], skipped, addresses } };
}

/** Fills the release. `between` is called after the database is written and before the record is. */
export async function fillReplaced(
  own: Release,
  token: string,
  change: TextChange,
  folder: string,
  between: () => Promise<void>,
): Promise<void> {
  await sharePart("public", own, folder);
  const { tables, replacements } = replaceIn(await readTables(await partOf(own, "database")), change);
  await mkdir(path.join(folder, "database"));
  await writeTables(path.join(folder, "database"), tables);
  await between();
  await writeSpec(folder, await specOf(own), []);
  const record = { token, previous: own.number, replacements };
  await writeRecord(folder, record);
}

function isReplacements(value: unknown): value is Replacements {
  return isRow(value) && "places" in value && "skipped" in value && "addresses" in value;
}

export function replacementsOf(release: Release | null): Replacements {
  const record = release?.record;
  const found = record !== undefined && "replacements" in record ? record.replacements : null;
  if (!isReplacements(found)) throw new Error("A fake release does not record what was replaced in it.");
  return found;
}
