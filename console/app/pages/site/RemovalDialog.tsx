import { answerOf, api } from "../../api/client.ts";
import type { Backup } from "../../api/sites.ts";
import { dateText } from "../../formats.ts";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { useStartAndFollow } from "../../parts/useStartAndFollow.ts";
import { texts } from "../../texts.ts";

const at = texts.restores;

interface RemovalDialogProps {
  readonly backup: Backup;
  readonly close: () => void;
}

/** Deletes a backup. Continues on the page of the operation. */
export function RemovalDialog({ backup, close }: RemovalDialogProps) {
  const removal = useStartAndFollow(() => {
    const params = { path: { backup_id: String(backup.id) } };
    return answerOf(api.DELETE("/sites/environments/backups/{backup_id}", { params }));
  });
  return (
    <ConfirmDialog
      title={at.removeNamed(dateText(backup.created_at))}
      warning={at.removeWarning}
      name={String(backup.id)}
      verb={at.remove}
      mutation={removal}
      close={close}
      request={{ method: "DELETE", path: `/sites/environments/backups/${backup.id}` }}
    />
  );
}
