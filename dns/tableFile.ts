/**
 * The table on disk, from which the server starts even if the control process is down. Control writes the file before
 * it sends the table, so the server only reads it.
 */
import { readFile } from "node:fs/promises";
import { readTable, type TableText } from "./tableText.ts";

const emptyTable: TableText = { generation: 0, zones: [], secondaries: [], keys: [] };

/**
 * A missing file counts as an empty table, because the installation is new. A broken file is reported and counts as an
 * empty table too: the server must start so that it can receive a better one.
 */
export async function loadTableFile(file: string, broken: (error: unknown) => void): Promise<TableText> {
  try {
    return readTable(await readFile(file));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) broken(error);
    return emptyTable;
  }
}
