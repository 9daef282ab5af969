import { Group, Select, Table, Text } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import type { Backup } from "../../api/sites.ts";
import { dateText } from "../../formats.ts";
import { Card } from "../../parts/Card.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";
import { ChangedFiles } from "./Changes.tsx";

const at = texts.backupComparison;

const comparisonQuery = (earlier: string, later: string) =>
  queryOptions({
    queryKey: ["sites", "backup-comparison", earlier, later],
    queryFn: async ({ signal }) => {
      const params = { path: { backup_id: later }, query: { with: earlier } };
      return (await answerOf(api.GET("/sites/environments/backups/{backup_id}/comparison", { params, signal })))
        .comparison;
    },
    enabled: earlier !== "" && later !== "" && earlier !== later,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What differs between two backups. At first none are chosen, because the archives are read for it. */
export function BackupComparison({ backups }: { readonly backups: readonly Backup[] }) {
  const [chosen, choose] = useState<readonly [earlier: string, later: string]>(["", ""]);
  const [earlier, later] = chosen;
  const comparison = useQuery(comparisonQuery(earlier, later));
  const choices = backups.map(({ id, created_at: date, note, type }) => ({
    value: String(id),
    label: `${dateText(date)}, ${note ?? texts.backups.types[type]}`,
  }));
  return (
    <Card title={at.title} maxWidth={720}>
      <Group grow>
        <Select label={at.earlier} data={choices} value={earlier} onChange={(value) => choose([value ?? "", later])} />
        <Select label={at.later} data={choices} value={later} onChange={(value) => choose([earlier, value ?? ""])} />
      </Group>
      {earlier === "" || later === "" || earlier === later ? (
        <Text size="sm">{at.choose}</Text>
      ) : (
        <Loaded query={comparison}>{(found) => <Differences comparison={found} />}</Loaded>
      )}
    </Card>
  );
}

function Differences({ comparison: { files, tables } }: { readonly comparison: Schemas["BackupComparison"] }) {
  return (
    <>
      <ChangedFiles heading={at.added(files.added.count)} files={files.added} />
      <ChangedFiles heading={at.changed(files.changed.count)} files={files.changed} />
      <ChangedFiles heading={at.removed(files.removed.count)} files={files.removed} />
      {tables === null && <Text size="sm">{at.notCounted}</Text>}
      {tables?.length === 0 && <Text size="sm">{at.sameRows}</Text>}
      {tables !== null && tables.length > 0 && (
        <DataTable label={at.tables} columns={[at.table, at.before, at.after]} minWidth={300}>
          {tables.map(({ table, before, after }) => (
            <Table.Tr key={table}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{table}</Table.Td>
              <Table.Td>{before ?? at.missing}</Table.Td>
              <Table.Td>{after ?? at.missing}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </>
  );
}
