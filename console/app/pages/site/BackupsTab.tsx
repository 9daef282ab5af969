import { Group, Stack, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { type Backup, backupsQuery } from "../../api/sites.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";
import { BackupComparison } from "./BackupComparison.tsx";
import { BackupTable, type Dialog } from "./BackupTable.tsx";
import { Downloads } from "./Downloads.tsx";
import { RemovalDialog } from "./RemovalDialog.tsx";
import { RestoreDialog } from "./RestoreDialog.tsx";
import type { TabProps } from "./tabProps.ts";

const at = texts.backups;

/** Backups of an environment: made, listed, restored, downloaded and deleted. */
export function BackupsTab({ environment, environments, siteName }: TabProps) {
  const backups = useQuery(backupsQuery(environment.id));
  const [open, setOpen] = useState<{ backup: Backup; dialog: Dialog } | null>(null);
  const close = () => setOpen(null);
  return (
    <Stack key={environment.id}>
      <NewBackup environmentId={environment.id} />
      <Loaded query={backups}>
        {(found) =>
          found.length === 0 ? (
            <EmptyState title={at.empty} hint={at.emptyHint} />
          ) : (
            <>
              <BackupTable
                environmentId={environment.id}
                backups={found}
                choose={(backup, dialog) => setOpen({ backup, dialog })}
              />
              {found.length > 1 && <BackupComparison backups={found} />}
            </>
          )
        }
      </Loaded>
      <Downloads environmentId={environment.id} />
      {open?.dialog === "restore" && (
        <RestoreDialog
          backup={open.backup}
          environment={environment}
          environments={environments}
          siteName={siteName}
          close={close}
        />
      )}
      {open?.dialog === "remove" && <RemovalDialog backup={open.backup} close={close} />}
    </Stack>
  );
}

function NewBackup({ environmentId }: { readonly environmentId: string }) {
  const client = useQueryClient();
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  const path = `/sites/environments/${environmentId}/manual-backups`;
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { tag: "" },
    send: ({ tag }) => {
      const params = { path: { env_id: environmentId } };
      const body = tag === "" ? {} : { tag };
      return answerOf(api.POST("/sites/environments/{env_id}/manual-backups", { params, body }));
    },
    done: (_, { reset }) => {
      reset();
      void client.invalidateQueries({ queryKey: ["operations"] });
    },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xs">
        <Failure error={error} />
        <Group align="end">
          <TextInput label={at.note} description={at.noteHint} autoComplete="off" {...form.getInputProps("tag")} />
          <ActionButton type="submit" loading={isSending} reason={reason}>
            {at.make}
          </ActionButton>
          <CurlButton method="POST" path={path} body={form.values.tag === "" ? {} : form.values} />
        </Group>
      </Stack>
    </form>
  );
}
