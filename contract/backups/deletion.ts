/** What may be said when something is deleted, in the body or in the query. */
import { Type } from "typebox";

const without_backup = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      "Deletes for good: nothing is backed up before, earlier backups are removed, and nothing can be brought back. Also where backups can't be made at the moment.",
  }),
);

export const WithoutBackup = Type.Object({ without_backup });
export const Deletion = Type.Object({ without_backup }, { title: "Deletion" });
