/** The option of deletions, in the body or, for clients that can't send one, in the query. */
import { Type } from "typebox";

const without_backup = Type.Optional(
  Type.Boolean({
    description:
      "Delete for good (default: false): no backup is made, earlier backups are deleted, and nothing can be restored. Works even if backups currently can't be made.",
  }),
);

export const WithoutBackup = Type.Object({ without_backup });
export const Deletion = Type.Object({ without_backup }, { title: "Deletion", examples: [{ without_backup: false }] });
