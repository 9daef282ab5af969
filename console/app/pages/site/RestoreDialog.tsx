import { answerOf, api } from "../../api/client.ts";
import type { Backup, Environment } from "../../api/sites.ts";
import { dateText } from "../../formats.ts";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { useStartAndFollow } from "../../parts/useStartAndFollow.ts";
import { texts } from "../../texts.ts";

const at = texts.backups;

interface RestoreDialogProps {
  readonly backup: Backup;
  readonly environment: Environment;
  readonly siteName: string;
  readonly close: () => void;
}

/** Says what a restore loses. Continues on the page of the operation. */
export function RestoreDialog({ backup, environment, siteName, close }: RestoreDialogProps) {
  const date = dateText(backup.created_at);
  const body = { backup_id: backup.id };
  const restore = useStartAndFollow(() => {
    const params = { path: { target_env_id: environment.id } };
    return answerOf(api.POST("/sites/environments/{target_env_id}/backups/restore", { params, body }));
  });
  return (
    <ConfirmDialog
      title={at.restoreTitle(date)}
      warning={at.restoreWarning(environment.display_name, date)}
      name={siteName}
      verb={at.restore}
      mutation={restore}
      close={close}
      request={{ method: "POST", path: `/sites/environments/${environment.id}/backups/restore`, body }}
    />
  );
}
