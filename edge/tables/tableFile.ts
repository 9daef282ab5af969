/**
 * The table on disk, with which the edge starts while nobody is there to tell it one. Whoever publishes a table
 * writes the file before it tells the edge, so the edge only ever reads it.
 */
import { readFile } from "node:fs/promises";
import { readTable } from "./readTable.ts";
import type { EdgeTable } from "./table.ts";

export const emptyTable: EdgeTable = { generation: 0, environments: [], hosts: [] };

/** Whether it is the one from before the first: nothing is known of any site. */
export function isEmpty(table: Pick<EdgeTable, "generation">): boolean {
  return table.generation === emptyTable.generation;
}

/**
 * No file is an empty table: an installation that is new, or newly restored. A broken one is reported and then an empty table too, because an
 * edge that doesn't start can't be told a better one.
 */
export async function loadTableFile(file: string, broken: (error: unknown) => void): Promise<EdgeTable> {
  try {
    return readTable(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) broken(error);
    return emptyTable;
  }
}
