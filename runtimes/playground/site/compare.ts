/** What a push would change: files, and rows that only the target has. */
import { readlink } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FileChanges, StageChanges } from "../../runtime.ts";
import { quoted } from "../templates/places.ts";
import { sameContent } from "./sameContent.ts";
import { siteTables, type Table } from "./tables.ts";
import { type OwnFile, ownFiles, select, unlessGone } from "./webRoot.ts";

const listedAtMost = 100;

function summary(files: readonly (readonly [name: string, file: OwnFile])[]): FileChanges {
  const found = files.map(([name, { bytes }]) => ({ path: name, bytes }));
  return {
    count: found.length,
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    listed: found.toSorted((one, other) => (one.path < other.path ? -1 : 1)).slice(0, listedAtMost),
  };
}

interface Side {
  readonly root: string;
  readonly file: OwnFile;
}

/** False also for a file that is gone meanwhile. */
async function isEqual(name: string, own: Side, source: Side): Promise<boolean> {
  if (own.file.bytes !== source.file.bytes || own.file.isLink !== source.file.isLink) return false;
  const places = [path.join(own.root, name), path.join(source.root, name)] as const;
  if (own.file.isLink) {
    const [one, other] = await Promise.all(places.map((place) => unlessGone(readlink(place))));
    return one === other;
  }
  if (own.file.modifiedMilliseconds === source.file.modifiedMilliseconds) return true;
  return (await unlessGone(sameContent(...places))) ?? false;
}

/**
 * Compares the files of two web roots, given by absolute path, without following symbolic links. Files of equal size
 * and time of modification count as equal, as elsewhere in the runtime. `only`: these files and what is below these
 * folders, relative to the web root, whatever else there is. Changed files have their size in the source.
 */
export async function compareFiles(
  own: string,
  source: string,
  only: readonly string[] | null,
): Promise<StageChanges["files"]> {
  const selection = select(only);
  const [ours, theirs] = await Promise.all([ownFiles(own, selection), ownFiles(source, selection)]);
  const added: [string, OwnFile][] = [];
  const changed: [string, OwnFile][] = [];
  for (const [name, file] of theirs) {
    const before = ours.get(name);
    if (before === undefined) added.push([name, file]);
    else if (!(await isEqual(name, { root: own, file: before }, { root: source, file }))) changed.push([name, file]);
  }
  const removed = [...ours].filter(([name]) => !theirs.has(name));
  return { added: summary(added), changed: summary(changed), removed: summary(removed) };
}

/** How long a reader waits for one who is just writing. */
const patienceMilliseconds = 10_000;

/** What WordPress remembers for a while only, and finds out again. */
const transients = String.raw`(own.option_name LIKE '\_transient\_%' ESCAPE '\' OR own.option_name LIKE '\_site\_transient\_%' ESCAPE '\')`;

function countedRows(table: Table): string {
  const isOptions = /^wp_(?:\d+_)?options$/.test(table.name) && table.columns.includes("option_name");
  return isOptions ? `NOT ${transients}` : "TRUE";
}

/** Rows whose key the source doesn't have. `IS`, because a key may have no value. */
function lostByKey(table: Table): string {
  const same = table.primaryKey.map((column) => `other.${quoted(column)} IS own.${quoted(column)}`).join(" AND ");
  const name = quoted(table.name);
  return `SELECT count(*) AS rows FROM main.${name} AS own
    WHERE ${countedRows(table)} AND NOT EXISTS (SELECT 1 FROM source.${name} AS other WHERE ${same})`;
}

/** Rows whose content the source doesn't have, equal ones each: the rows of both in groups of the same content. */
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
  const compared = table.primaryKey.length > 0 ? table.primaryKey : table.columns;
  if (source === undefined || !compared.every((column) => source.columns.includes(column))) {
    return `SELECT count(*) AS rows FROM main.${quoted(table.name)} AS own WHERE ${countedRows(table)}`;
  }
  return table.primaryKey.length > 0 ? lostByKey(table) : lostByContent(table);
}

/**
 * Counts, for each of the own tables or of those in `tables`, the rows whose primary key does not occur in the
 * source, or whose content where there is no key. Most rows first; tables that lose nothing are left out. Both files
 * are only read and may be in use.
 */
export function lostRows(
  ownDatabase: string,
  sourceDatabase: string,
  tables: readonly string[] | null,
): StageChanges["lost"] {
  const database = new DatabaseSync(ownDatabase, { readOnly: true, timeout: patienceMilliseconds });
  try {
    database.prepare("ATTACH ? AS source").run(sourceDatabase);
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
