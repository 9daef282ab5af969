/** What differs between two backups. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { changedFiles } from "../operationResults.ts";
import { nullable, pattern } from "../schema.ts";

const backupId = (description: string, example: string) =>
  Type.String({
    pattern: pattern("^[1-9][0-9]{0,9}$", "must be the id of a backup, a positive whole number"),
    description,
    examples: [example],
  });

const rows = (which: string) =>
  nullable(Type.Integer({ minimum: 0, description: `Rows in the ${which} backup; null: it has no such table.` }));

const BackupComparison = Type.Object(
  {
    files: Type.Object(
      {
        added: changedFiles("Files that only the later backup has.", 1),
        changed: changedFiles("Files with other content.", 1),
        removed: changedFiles("Files that only the earlier backup has.", 1),
      },
      { description: "Differences of files, without WordPress's own code." },
    ),
    tables: nullable(
      Type.Array(
        Type.Object({
          table: Type.String({ description: "Name of the table.", examples: ["wp_posts"] }),
          before: rows("earlier"),
          after: rows("later"),
        }),
        {
          description:
            "Tables with another number of rows. Null: the rows of one of the backups were not counted. Changes within rows are not listed.",
        },
      ),
    ),
  },
  { title: "BackupComparison" },
);

export const compareBackups = endpoint({
  method: "GET",
  path: "/sites/environments/backups/{backup_id}/comparison",
  tag: "Backups",
  summary: "Compare two backups",
  description:
    "Lists the files that differ between the backup and an earlier one, and the tables whose number of rows differs. Only the lists of files are read from the archives.",
  params: Type.Object({ backup_id: backupId("Id of the later backup.", "42") }),
  query: Type.Object({ with: backupId("Id of the earlier backup, of any environment of the company.", "41") }),
  responses: { 200: result(["comparison"], "The differences.", BackupComparison) },
  refusals: ["unknown_backup", "backup_damaged"],
  verb: "read",
  resource: { kind: "backup", from: "params.backup_id" },
});
