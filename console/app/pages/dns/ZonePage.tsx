import { Group, Stack, Table } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { companyDomainsQuery, type RecordSet, recordsQuery } from "../../api/dns.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { Page } from "../../parts/Page.tsx";
import { useStartAndFollow } from "../../parts/useStartAndFollow.ts";
import { texts } from "../../texts.ts";
import { RecordForm } from "./RecordForm.tsx";
import { ZoneFile } from "./ZoneFile.tsx";
import { ZoneVersions } from "./ZoneVersions.tsx";

const at = texts.dns;

/** The records of a domain: changed, imported, exported, compared with earlier versions and restored. */
export function ZonePage({ domainId }: { readonly domainId: string }) {
  const domains = useQuery(companyDomainsQuery(useSignedIn()?.company.id ?? ""));
  const records = useQuery(recordsQuery(domainId));
  const name = domains.data?.find(({ id }) => id === domainId)?.name;
  const [edited, edit] = useState<RecordSet | null>(null);
  const [removed, remove] = useState<RecordSet | null>(null);
  return (
    <Page title={name === undefined ? at.title : at.zoneTitle(name)}>
      <Loaded query={records}>
        {(found) =>
          found.length === 0 ? (
            <EmptyState title={at.noRecords} hint={at.noRecordsHint} />
          ) : (
            <RecordTable records={found} edit={edit} remove={remove} />
          )
        }
      </Loaded>
      <Loaded query={domains}>{() => null}</Loaded>
      {name !== undefined && (
        <Card title={edited === null ? at.add : at.editNamed(edited.type, edited.name)} maxWidth={720}>
          <RecordForm
            key={edited === null ? "" : `${edited.type} ${edited.name}`}
            domainId={domainId}
            domainName={name}
            edited={edited}
            close={() => edit(null)}
          />
        </Card>
      )}
      <ZoneFile domainId={domainId} />
      <ZoneVersions domainId={domainId} />
      {removed !== null && <RemovalDialog domainId={domainId} removed={removed} close={() => remove(null)} />}
    </Page>
  );
}

interface RecordTableProps {
  readonly records: readonly RecordSet[];
  readonly edit: (record: RecordSet) => void;
  readonly remove: (record: RecordSet) => void;
}

function RecordTable({ records, edit, remove }: RecordTableProps) {
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  return (
    <DataTable label={at.records} columns={[at.name, at.type, at.ttlShort, at.value]} actions={at.edit} minWidth={720}>
      {records.map((record) => (
        <Table.Tr key={`${record.type} ${record.name}`}>
          <Table.Td style={{ overflowWrap: "anywhere" }}>{record.name}</Table.Td>
          <Table.Td>{record.type}</Table.Td>
          <Table.Td>{record.ttl}</Table.Td>
          <Table.Td style={{ overflowWrap: "anywhere" }}>
            <Stack gap={0}>
              {record.resource_records.map(({ value }) => (
                <span key={value}>{value}</span>
              ))}
            </Stack>
          </Table.Td>
          <Table.Td>
            <Group gap="xs" justify="end" wrap="nowrap">
              <ActionButton
                size="compact-sm"
                variant="default"
                reason={reason}
                aria-label={at.editNamed(record.type, record.name)}
                onClick={() => edit(record)}
              >
                {at.edit}
              </ActionButton>
              <ActionButton
                size="compact-sm"
                variant="default"
                reason={reason}
                aria-label={at.removeNamed(record.type, record.name)}
                onClick={() => remove(record)}
              >
                {at.remove}
              </ActionButton>
            </Group>
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

interface RemovalDialogProps {
  readonly domainId: string;
  readonly removed: RecordSet;
  readonly close: () => void;
}

function RemovalDialog({ domainId, removed: { type, name }, close }: RemovalDialogProps) {
  const body = { type, name, confirm: true };
  const removal = useStartAndFollow(() =>
    answerOf(api.DELETE("/domains/{domain_id}/dns-records", { params: { path: { domain_id: domainId } }, body })),
  );
  return (
    <ConfirmDialog
      title={at.removeNamed(type, name)}
      warning={at.removeWarning}
      name={name}
      verb={at.remove}
      mutation={removal}
      close={close}
      request={{ method: "DELETE", path: `/domains/${domainId}/dns-records`, body }}
    />
  );
}
