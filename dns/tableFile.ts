/**
 * The table on disk, with which the server starts while nobody is there to tell it one. Whoever publishes a table writes
 * the file before it tells the server, so the server only ever reads it.
 */
import { readFile } from "node:fs/promises";
import { readTable, type WrittenTable } from "./tableText.ts";

export const emptyTable: WrittenTable = { generation: 0, zones: [], secondaries: [], keys: [] };

/**
 * No file is an empty table: an installation that is new. A broken one is reported and then an empty table too, because
 * a server that doesn't start can't be told a better one.
 */
export async function loadTableFile(file: string, broken: (error: unknown) => void): Promise<WrittenTable> {
  try {
    return readTable(await readFile(file));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) broken(error);
    return emptyTable;
  }
}
