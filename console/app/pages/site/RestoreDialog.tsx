import { useNavigate } from "@tanstack/react-router";
import { answerOf, api } from "../../api/client.ts";
import { useStart } from "../../api/operations.ts";
import type { Backup, Environment } from "../../api/sites.ts";
import { dateText } from "../../formats.ts";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
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
  const navigate = useNavigate();
  const date = dateText(backup.created_at);
  const body = { backup_id: backup.id };
  const { isPending, error, mutate } = useStart(() => {
    const params = { path: { target_env_id: environment.id } };
    return answerOf(api.POST("/sites/environments/{target_env_id}/backups/restore", { params, body }));
  });
  const start = () =>
    mutate(undefined, {
      onSuccess: ({ operation_id: operationId }) =>
        void navigate({ to: "/operations/$operationId", params: { operationId } }),
    });
  return (
    <ConfirmDialog
      title={at.restoreTitle(date)}
      warning={at.restoreWarning(environment.display_name, date)}
      name={siteName}
      verb={at.restore}
      mutation={{ isPending, error, mutate: start }}
      close={close}
      request={{ method: "POST", path: `/sites/environments/${environment.id}/backups/restore`, body }}
    />
  );
}
