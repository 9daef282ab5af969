/** Backups as rows. One is shown when its content is in the archives. */
import type { Database, DatabaseTransaction } from "./database.ts";

export interface NewBackup {
  readonly environmentId: string;
  readonly name: string;
  readonly note: string | null;
  readonly type: "manual" | "scheduled" | "system-generated";
  readonly operationId: string;
}

/** Notes that the operation makes a backup; again for the same operation it changes nothing. */
export async function beginBackup(database: Database, backup: NewBackup): Promise<void> {
  await database
    .insertInto("backups")
    .columns(["company_id", "site_id", "environment_id", "name", "note", "type", "operation_id"])
    .expression((eb) =>
      eb
        .selectFrom("environments as e")
        .where("e.id", "=", backup.environmentId)
        .select((each) => [
          "e.company_id",
          "e.site_id",
          "e.id",
          each.val(backup.name).as("name"),
          each.val(backup.note).as("note"),
          each.val(backup.type).as("type"),
          each.val(backup.operationId).as("operation_id"),
        ]),
    )
    .onConflict((conflict) => conflict.column("operation_id").doNothing())
    .execute();
}

/** Its content is in the archives, under `archive`: from now on it is shown. */
export async function finishBackup(
  database: Database,
  operationId: string,
  archive: string,
  bytes: number,
): Promise<void> {
  await database.updateTable("backups").set({ archive, bytes }).where("operation_id", "=", operationId).execute();
}

export async function removeBackup(database: Database | DatabaseTransaction, operationId: string): Promise<void> {
  await database.deleteFrom("backups").where("operation_id", "=", operationId).execute();
}
