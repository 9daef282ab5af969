import { Anchor, Table, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { addDownload, downloadsQuery } from "../../api/backups.ts";
import type { Schemas } from "../../api/client.ts";
import { useStart } from "../../api/operations.ts";
import { dateText } from "../../formats.ts";
import { ActionForm } from "../../parts/ActionForm.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.downloads;

/** Zips of the environment and of its backups, with links that expire. */
export function Downloads({ environmentId }: { readonly environmentId: string }) {
  const client = useQueryClient();
  const downloads = useQuery(downloadsQuery(environmentId));
  const start = useStart(async () => {
    const accepted = await addDownload(environmentId, null);
    await client.invalidateQueries({ queryKey: downloadsQuery(environmentId).queryKey });
    return accepted;
  });
  return (
    <ActionForm
      title={at.title}
      hint={at.hint}
      verb={at.make}
      submit={(event) => {
        event.preventDefault();
        start.mutate(undefined);
      }}
      isSending={start.isPending}
      error={start.error}
      request={{ method: "POST", path: `/sites/environments/${environmentId}/downloadable-backups`, body: {} }}
      outcome={
        <Loaded query={downloads}>
          {(found) => (found.length === 0 ? <Text size="sm">{at.none}</Text> : <DownloadTable downloads={found} />)}
        </Loaded>
      }
    />
  );
}

function DownloadTable({ downloads }: { readonly downloads: readonly Schemas["DownloadableBackup"][] }) {
  return (
    <DataTable label={at.list} columns={[at.created, at.expires]} actions={at.get} minWidth={400}>
      {downloads.map((download) => (
        <Table.Tr key={download.id}>
          <Table.Td>{dateText(download.created_at)}</Table.Td>
          <Table.Td>{dateText(download.expires_at)}</Table.Td>
          <Table.Td ta="right">
            <Link download={download} />
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

function Link({ download }: { readonly download: Schemas["DownloadableBackup"] }) {
  const { download_link: link, created_at: created, is_generation_in_progress: isUnderWay } = download;
  if (link === null) return <Text size="sm">{isUnderWay ? at.underWay : at.noLink}</Text>;
  return (
    <Anchor href={link} download size="sm" aria-label={at.getNamed(dateText(created))}>
      {at.get}
    </Anchor>
  );
}
