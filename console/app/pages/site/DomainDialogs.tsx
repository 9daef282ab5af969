/** Dialogs about one domain: its DNS records and certificate, making it primary, and removing it. */
import { Badge, Modal, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { dateText } from "../../formats.ts";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { useStartAndFollow } from "../../parts/useStartAndFollow.ts";
import { texts } from "../../texts.ts";
import { CertificateFacts, CustomCertificate } from "./CustomCertificate.tsx";

const at = texts.domains;
type Domain = Schemas["SiteDomain"];
type WantedRecord = Schemas["WantedRecord"];

interface DomainDialogProps {
  readonly domain: Domain;
  readonly close: () => void;
}

/** Milliseconds between two looks at DNS records and certificate while the dialog is open. */
const lookMilliseconds = 5_000;

export function SetUpDialog({ domain, close }: DomainDialogProps) {
  const params = { path: { site_domain_id: domain.id } };
  const records = useQuery({
    queryKey: ["sites", "domain", domain.id, "records"],
    queryFn: async ({ signal }) =>
      (await answerOf(api.GET("/sites/environments/domains/{site_domain_id}/verification-records", { params, signal })))
        .site_domain,
    refetchInterval: lookMilliseconds,
  });
  const certificate = useQuery({
    queryKey: ["sites", "domain", domain.id, "certificate"],
    queryFn: async ({ signal }) =>
      (await answerOf(api.GET("/sites/environments/domains/{site_domain_id}/certificate", { params, signal })))
        .site_domain,
    refetchInterval: lookMilliseconds,
  });
  return (
    <Modal
      opened
      onClose={close}
      title={at.setUpNamed(domain.name)}
      size="xl"
      closeButtonProps={{ "aria-label": texts.close }}
    >
      <Stack>
        <Title order={3} size="h5">
          {at.records}
        </Title>
        <Loaded query={records}>
          {({ verification_records: proofs, pointing_records: pointing, last_checked_at: checkedAt }) => (
            <>
              <Records records={[...proofs, ...pointing]} />
              {checkedAt !== null && (
                <Text size="sm" c="dimmed">
                  {at.checked(dateText(checkedAt))}
                </Text>
              )}
            </>
          )}
        </Loaded>
        <Title order={3} size="h5">
          {at.certificate}
        </Title>
        <Loaded query={certificate}>
          {({ certificate: found, order }) => (
            <>
              {found === null ? <Text size="sm">{at.noCertificate}</Text> : <CertificateFacts certificate={found} />}
              {order?.is_under_way === true && <Text size="sm">{at.underWay}</Text>}
              {order?.last_problem != null && <Text size="sm">{order.last_problem.message}</Text>}
              {order?.next_try_at != null && <Text size="sm">{at.nextTry(dateText(order.next_try_at))}</Text>}
              <Title order={3} size="h5">
                {texts.certificates.upload}
              </Title>
              <CustomCertificate domain={domain} isCustom={found?.source === "custom"} />
            </>
          )}
        </Loaded>
      </Stack>
    </Modal>
  );
}

function Records({ records }: { readonly records: readonly WantedRecord[] }) {
  if (records.length === 0) return <Text size="sm">{at.noRecords}</Text>;
  return (
    <>
      <Text size="sm">{at.recordsHint}</Text>
      <DataTable label={at.records} columns={[at.type, at.recordName, at.value, at.found, at.state]} minWidth={720}>
        {records.map((record) => (
          <Table.Tr key={`${record.type} ${record.name} ${record.value}`}>
            <Table.Td>{record.type}</Table.Td>
            <Table.Td style={{ overflowWrap: "anywhere" }}>{record.name}</Table.Td>
            <Table.Td style={{ overflowWrap: "anywhere" }}>{record.value}</Table.Td>
            <Table.Td style={{ overflowWrap: "anywhere" }}>{foundText(record)}</Table.Td>
            <Table.Td>
              <Badge
                variant="light"
                miw="max-content"
                color={record.is_right === true ? "green" : record.is_required ? "red" : "gray"}
              >
                {record.is_right === true ? at.right : record.is_required ? at.wrong : at.optional}
              </Badge>
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </>
  );
}

function foundText({ last_seen: seen }: WantedRecord): string {
  if (seen === null) return at.notChecked;
  return seen.length === 0 ? at.nothing : seen.join(", ");
}

interface ChangeDialogProps extends DomainDialogProps {
  readonly environmentId: string;
}

export function PrimaryDialog({ environmentId, domain, close }: ChangeDialogProps) {
  const body = { domain_id: domain.id, run_search_and_replace: true, confirm: true };
  const change = useStartAndFollow(() => {
    const params = { path: { env_id: environmentId } };
    return answerOf(api.PUT("/sites/environments/{env_id}/change-primary-domain", { params, body }));
  });
  return (
    <ConfirmDialog
      title={at.primaryTitle(domain.name)}
      warning={at.primaryWarning(domain.name)}
      name={domain.name}
      verb={at.makePrimary}
      mutation={change}
      close={close}
      request={{ method: "PUT", path: `/sites/environments/${environmentId}/change-primary-domain`, body }}
    />
  );
}

export function RemovalDialog({ environmentId, domain, close }: ChangeDialogProps) {
  const body = { domain_ids: [domain.id] };
  const removal = useStartAndFollow(() => {
    const params = { path: { env_id: environmentId } };
    return answerOf(api.DELETE("/sites/environments/{env_id}/domains", { params, body }));
  });
  return (
    <ConfirmDialog
      title={at.removeNamed(domain.name)}
      warning={at.removeWarning(domain.name)}
      name={domain.name}
      verb={at.remove}
      mutation={removal}
      close={close}
      request={{ method: "DELETE", path: `/sites/environments/${environmentId}/domains`, body }}
    />
  );
}
