/** A separate SQLite file for each test, like that of a site. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach } from "vitest";

interface SqliteFile {
  /** Path of the file, which the first statement creates. */
  readonly path: string;
  run(...statements: readonly string[]): void;
  /** Returns the rows with their columns joined by ` | `. */
  rowsOf(query: string): readonly string[];
}

export function useSqliteFile(): SqliteFile {
  let folder: string;
  let databases = 0;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "sqlite-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach(() => {
    databases += 1;
  });
  const file = () => path.join(folder, `${databases}.sqlite`);
  return {
    get path() {
      return file();
    },
    run(...statements) {
      using database = new DatabaseSync(file());
      for (const statement of statements) database.exec(statement);
    },
    rowsOf(query) {
      using database = new DatabaseSync(file());
      const rows = database.prepare(query).all();
      return rows.map((row) => Object.values(row).join(" | "));
    },
  };
}
