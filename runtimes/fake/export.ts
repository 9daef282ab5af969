/** Exports a fake snapshot: its files, and its tables as pseudo-SQL. */
import { cp, lstat, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { buildAtomically } from "../folders.ts";
import { partOf, type Release } from "../releases.ts";
import type { SiteExport } from "../runtime.ts";
import { readTables, type Tables } from "./database.ts";
import { copyPart, sharedFoldersOf, specOf, versionOf } from "./release.ts";

function sqlOf(tables: Tables): string {
  return Object.entries(tables)
    .flatMap(([table, rows]) => [
      `-- ${table}`,
      ...rows.map((row) => `INSERT INTO ${table} VALUES (${JSON.stringify(row)});`),
    ])
    .join("\n");
}

/** Exports a release. `middle` is called when half of the files exist. */
export async function exportRelease(
  release: Release,
  folder: string,
  middle: () => Promise<void>,
): Promise<SiteExport> {
  const spec = await specOf(release);
  const tables = await readTables(await partOf(release, "database"));
  await buildAtomically(folder, `${folder}.new`, async (target) => {
    const isNotLink = async (file: string) => !(await lstat(file)).isSymbolicLink();
    await cp(await partOf(release, "public"), path.join(target, "public"), { recursive: true, filter: isNotLink });
    await middle();
    for (const name of sharedFoldersOf(spec)) {
      await rm(path.join(target, "public", name), { recursive: true, force: true });
      await mkdir(path.join(target, "public", name));
      await writeFile(path.join(target, "public", name, "index.php"), "<?php\n");
    }
    if (spec.wordpress === null) await copyPart("database", release, target);
    if (Object.keys(tables).length > 0) await writeFile(path.join(target, "database.sql"), sqlOf(tables));
  });
  const multisite = spec.wordpress?.multisite ?? null;
  const wordpressVersion = await versionOf(release);
  return { wordpressVersion, multisite, databaseKind: "JSON", tables: Object.keys(tables).length, notes: [] };
}
