import { Badge, Group, Stack, Table, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { type Backup, backupsQuery } from "../../api/sites.ts";
import { dateText, dayText, sizeText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";
import { RestoreDialog } from "./RestoreDialog.tsx";
import type { TabProps } from "./tabProps.ts";

const at = texts.backups;

/** Backups of an environment: made, listed and restored. */
export function BackupsTab({ environment, siteName }: TabProps) {
  const backups = useQuery(backupsQuery(environment.id));
  const [chosen, choose] = useState<Backup | null>(null);
  return (
    <Stack>
      <NewBackup key={environment.id} environmentId={environment.id} />
      <Loaded query={backups}>
        {(found) =>
          found.length === 0 ? (
            <EmptyState title={at.empty} hint={at.emptyHint} />
          ) : (
            <BackupTable backups={found} choose={choose} />
          )
        }
      </Loaded>
      {chosen !== null && (
        <RestoreDialog backup={chosen} environment={environment} siteName={siteName} close={() => choose(null)} />
      )}
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

interface BackupTableProps {
  readonly backups: readonly Backup[];
  readonly choose: (backup: Backup) => void;
}

function BackupTable({ backups, choose }: BackupTableProps) {
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  return (
    <DataTable label={at.list} columns={[at.created, at.size, at.proven, at.expires]} actions={at.restore}>
      {backups.map((backup) => (
        <Table.Tr key={backup.id}>
          <Table.Td>
            <Text size="sm">{dateText(backup.created_at)}</Text>
            <Text size="xs" c="dimmed">
              {backup.note ?? at.types[backup.type]}
            </Text>
          </Table.Td>
          <Table.Td>{sizeText(backup.size_bytes)}</Table.Td>
          <Table.Td>
            {backup.last_proven_restore === null ? at.notProven : dateText(backup.last_proven_restore)}
          </Table.Td>
          <Table.Td>{dayText(backup.expires_at)}</Table.Td>
          <Table.Td ta="right">
            {backup.damage !== null && <Badge color="red">{at.damaged}</Badge>}
            <ActionButton
              size="compact-sm"
              variant="default"
              aria-label={at.restoreNamed(dateText(backup.created_at))}
              reason={backup.damage === null ? forbidden : at.isDamaged}
              onClick={() => choose(backup)}
            >
              {at.restore}
            </ActionButton>
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
