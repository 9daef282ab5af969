import { Badge, Group, Table, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { addDownload, downloadsQuery } from "../../api/backups.ts";
import { useStart } from "../../api/operations.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import type { Backup } from "../../api/sites.ts";
import { dateText, dayText, sizeText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.backups;
const words = texts.restores;

/** What can be done with a backup after a question. */
export type Dialog = "restore" | "remove";

interface BackupTableProps {
  readonly environmentId: string;
  readonly backups: readonly Backup[];
  readonly choose: (backup: Backup, dialog: Dialog) => void;
}

/** Backups with what proves that they can be restored. */
export function BackupTable({ environmentId, backups, choose }: BackupTableProps) {
  const client = useQueryClient();
  const download = useStart(async (backupId: number) => {
    const accepted = await addDownload(environmentId, backupId);
    await client.invalidateQueries({ queryKey: downloadsQuery(environmentId).queryKey });
    return accepted;
  });
  return (
    <>
      <Failure error={download.error} />
      <DataTable
        label={at.list}
        columns={[at.created, at.size, at.proven, at.expires]}
        actions={at.restore}
        minWidth={860}
      >
        {backups.map((backup) => (
          <Table.Tr key={backup.id}>
            <Table.Td>
              <Text size="sm">{dateText(backup.created_at)}</Text>
              <Text size="xs" c="dimmed">
                {`${backup.note ?? at.types[backup.type]}, ${words.verified(dayText(backup.verified_at))}`}
              </Text>
            </Table.Td>
            <Table.Td>{sizeText(backup.size_bytes)}</Table.Td>
            <Table.Td>
              <Proof backup={backup} />
            </Table.Td>
            <Table.Td>{dayText(backup.expires_at)}</Table.Td>
            <Table.Td>
              <Actions
                backup={backup}
                download={() => download.mutate(backup.id)}
                choose={(dialog) => choose(backup, dialog)}
              />
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </>
  );
}

/** When it was last restored for a test, and what is wrong with it. */
function Proof({ backup: { last_proven_restore: proven, proof_error: error, damage } }: { readonly backup: Backup }) {
  return (
    <>
      <Text size="sm">{proven === null ? at.notProven : dateText(proven)}</Text>
      {damage !== null && (
        <>
          <Badge color="red">{at.damaged}</Badge>
          <Text size="xs">{damage}</Text>
        </>
      )}
      {error !== null && <Text size="xs">{`${words.proofFailed} ${error}`}</Text>}
    </>
  );
}

interface ActionsProps {
  readonly backup: Backup;
  readonly download: () => void;
  readonly choose: (dialog: Dialog) => void;
}

function Actions({ backup, download, choose }: ActionsProps) {
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const date = dateText(backup.created_at);
  const whole = forbidden ?? (backup.damage === null ? null : at.isDamaged);
  const buttonOf = (label: string, name: string, reason: string | null, onClick: () => void) => (
    <ActionButton size="compact-sm" variant="default" aria-label={name} reason={reason} onClick={onClick}>
      {label}
    </ActionButton>
  );
  return (
    <Group gap="xs" justify="end" wrap="nowrap">
      {buttonOf(at.restore, at.restoreNamed(date), whole, () => choose("restore"))}
      {buttonOf(words.download, words.downloadNamed(date), whole, download)}
      {buttonOf(words.remove, words.removeNamed(date), forbidden, () => choose("remove"))}
    </Group>
  );
}
