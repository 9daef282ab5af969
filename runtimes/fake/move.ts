/** Stages a fake release with another address. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { sharePart } from "../releaseMoves.ts";
import { partOf, type Release, writeRecord } from "../releases.ts";
import type { StageAddressSpec } from "../runtime.ts";
import { incomingTables, readTables, type Tables, writeTables } from "./database.ts";
import { specOf, writeSpec } from "./release.ts";

function isAddressOption(row: unknown): boolean {
  return typeof row === "object" && row !== null && "option_name" in row && row.option_name === "siteurl";
}

function movedTables(tables: Tables, { change, isEverywhere }: StageAddressSpec): Tables {
  const changed = incomingTables(tables, null, [change]);
  if (isEverywhere) return changed;
  const pick = ([name, rows]: readonly [string, readonly unknown[]]) =>
    [name, rows.map((row, index) => (isAddressOption(row) ? changed[name]?.[index] : row))] as const;
  return Object.fromEntries(Object.entries(tables).map(pick));
}

/** Fills the release. `between` is called after the database is written and before the record is. */
export async function fillMoved(
  own: Release,
  spec: StageAddressSpec,
  folder: string,
  between: () => Promise<void>,
): Promise<void> {
  await sharePart("public", own, folder);
  await mkdir(path.join(folder, "database"));
  const tables = await readTables(await partOf(own, "database"));
  await writeTables(path.join(folder, "database"), movedTables(tables, spec));
  await between();
  await writeSpec(folder, await specOf(own), [spec.change]);
  await writeRecord(folder, { token: spec.token, previous: own.number });
}
