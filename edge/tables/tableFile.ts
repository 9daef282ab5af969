/**
 * The table on disk, from which the edge starts even if the control process is down. Control writes the file before it
 * sends the table, so the edge only reads it.
 */
import { readFile } from "node:fs/promises";
import { readTable } from "./readTable.ts";
import type { EdgeTable } from "./table.ts";

export const emptyTable: EdgeTable = { generation: 0, environments: [], hosts: [] };

/** Whether no table has arrived yet, so that nothing is known of any site. */
export function isEmpty(table: Pick<EdgeTable, "generation">): boolean {
  return table.generation === emptyTable.generation;
}

/**
 * A missing file counts as an empty table, because the installation is new or was just restored. A broken file is
 * reported and counts as an empty table too: the edge must start so that it can receive a better one.
 */
export async function loadTableFile(file: string, broken: (error: unknown) => void): Promise<EdgeTable> {
  try {
    return readTable(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) broken(error);
    return emptyTable;
  }
}
