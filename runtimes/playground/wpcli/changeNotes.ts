/** Notes whether a command changes the files of its environment, or the database. Refuses nothing. */
import type { WriteGuard } from "../php/writeGuard.ts";

type Notes = Pick<WriteGuard, "refuses">;

export interface ChangeNotes {
  readonly files: Notes;
  readonly database: Notes;
  /** Pages are outdated, as PHP says. */
  note(): void;
  /** Forgets writes to the database, because no page shows them. */
  forgetDatabase(): void;
  hasChanged(): boolean;
}

export function createChangeNotes(): ChangeNotes {
  const changed = { files: false, database: false, pages: false };
  const noting = (what: keyof typeof changed): Notes => ({
    refuses() {
      changed[what] = true;
      return false;
    },
  });
  return {
    files: noting("files"),
    database: noting("database"),
    note() {
      changed.pages = true;
    },
    forgetDatabase() {
      changed.database = false;
    },
    hasChanged: () => changed.files || changed.database || changed.pages,
  };
}
