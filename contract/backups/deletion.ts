/** What may be said when something is deleted, in the body or in the query. */
import { Type } from "typebox";

const without_backup = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      "Deletes for good: no backup is made, earlier backups are deleted, and nothing can be restored. Works even if backups can't be made at the moment.",
  }),
);

export const WithoutBackup = Type.Object({ without_backup });
export const Deletion = Type.Object({ without_backup }, { title: "Deletion" });
