import { Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { type RecordSet, zoneDifferenceQuery, zoneVersionsQuery } from "../../api/dns.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { dateText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { useStartAndFollow } from "../../parts/useStartAndFollow.ts";
import { texts } from "../../texts.ts";

const at = texts.dns;

/** Earlier versions of a zone. One that has been compared with the present records can be restored. */
export function ZoneVersions({ domainId }: { readonly domainId: string }) {
  const versions = useQuery(zoneVersionsQuery(domainId));
  const [compared, compare] = useState<number | null>(null);
  return (
    <Card title={at.versions}>
      <Loaded query={versions}>
        {(found) =>
          found.length === 0 ? (
            <Text size="sm">{at.noVersions}</Text>
          ) : (
            <DataTable label={at.versions} columns={[at.version, at.made, at.count]} actions={at.compare}>
              {found.map(({ serial, created_at: made, record_sets_count: count }) => (
                <Table.Tr key={serial}>
                  <Table.Td>{serial}</Table.Td>
                  <Table.Td>{dateText(made)}</Table.Td>
                  <Table.Td>{count}</Table.Td>
                  <Table.Td ta="right">
                    <ActionButton
                      size="compact-sm"
                      variant="default"
                      aria-label={at.compareNamed(serial)}
                      onClick={() => compare(serial)}
                    >
                      {at.compare}
                    </ActionButton>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )
        }
      </Loaded>
      {compared !== null && <Difference key={compared} domainId={domainId} serial={compared} />}
    </Card>
  );
}

interface DifferenceProps {
  readonly domainId: string;
  readonly serial: number;
}

function Difference({ domainId, serial }: DifferenceProps) {
  const difference = useQuery(zoneDifferenceQuery(domainId, serial));
  const [isAsking, ask] = useState(false);
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  return (
    <Stack>
      <Text fw={600}>{at.difference(serial)}</Text>
      <Loaded query={difference}>
        {(found) =>
          found.length === 0 ? (
            <Text size="sm">{at.same}</Text>
          ) : (
            <>
              <DataTable label={at.difference(serial)} columns={[at.name, at.type, at.before, at.now]} minWidth={640}>
                {found.map(({ name, type, before, after }) => (
                  <Table.Tr key={`${type} ${name}`}>
                    <Table.Td style={{ overflowWrap: "anywhere" }}>{name}</Table.Td>
                    <Table.Td>{type}</Table.Td>
                    <Table.Td style={{ overflowWrap: "anywhere" }}>{valuesOf(before)}</Table.Td>
                    <Table.Td style={{ overflowWrap: "anywhere" }}>{valuesOf(after)}</Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <ActionButton reason={reason} style={{ alignSelf: "start" }} onClick={() => ask(true)}>
                {at.restore}
              </ActionButton>
            </>
          )
        }
      </Loaded>
      {isAsking && <RestoreDialog domainId={domainId} serial={serial} close={() => ask(false)} />}
    </Stack>
  );
}

const valuesOf = (record: RecordSet | null): string =>
  record === null ? at.none : `${record.resource_records.map(({ value }) => value).join(", ")} (${record.ttl} s)`;

function RestoreDialog({ domainId, serial, close }: DifferenceProps & { readonly close: () => void }) {
  const body = { confirm: true };
  const restore = useStartAndFollow(() => {
    const params = { path: { domain_id: domainId, serial: String(serial) } };
    return answerOf(api.POST("/domains/{domain_id}/zone-versions/{serial}/restore", { params, body }));
  });
  return (
    <ConfirmDialog
      title={at.restore}
      warning={at.restoreWarning}
      name={String(serial)}
      verb={at.restore}
      mutation={restore}
      close={close}
      request={{ method: "POST", path: `/domains/${domainId}/zone-versions/${serial}/restore`, body }}
    />
  );
}
