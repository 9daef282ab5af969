import { Badge, Checkbox, Group, Stack, Table, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { domainsQuery } from "../../api/sites.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";
import { PrimaryDialog, RemovalDialog, SetUpDialog } from "./DomainDialogs.tsx";
import { ForceHttps } from "./ForceHttps.tsx";
import type { TabProps } from "./tabProps.ts";

const at = texts.domains;
type Domain = Schemas["SiteDomain"];
type Dialog = "setUp" | "primary" | "remove";

/** The names of an environment: what DNS says and should say, which one is primary, and HTTPS. */
export function DomainsTab({ environment: { id } }: TabProps) {
  const domains = useQuery(domainsQuery(id));
  const [open, setOpen] = useState<{ domain: Domain; dialog: Dialog } | null>(null);
  const close = () => setOpen(null);
  return (
    <Stack key={id}>
      <Loaded query={domains}>
        {(found) => <DomainTable domains={found} choose={(domain, dialog) => setOpen({ domain, dialog })} />}
      </Loaded>
      <NewDomain environmentId={id} />
      <ForceHttps environmentId={id} />
      {open?.dialog === "setUp" && <SetUpDialog domain={open.domain} close={close} />}
      {open?.dialog === "primary" && <PrimaryDialog environmentId={id} domain={open.domain} close={close} />}
      {open?.dialog === "remove" && <RemovalDialog environmentId={id} domain={open.domain} close={close} />}
    </Stack>
  );
}

interface DomainTableProps {
  readonly domains: readonly Domain[];
  readonly choose: (domain: Domain, dialog: Dialog) => void;
}

function DomainTable({ domains, choose }: DomainTableProps) {
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const buttonOf = (label: string, name: string, reason: string | null, onClick: () => void) => (
    <ActionButton size="compact-sm" variant="default" aria-label={name} reason={reason} onClick={onClick}>
      {label}
    </ActionButton>
  );
  return (
    <DataTable label={at.list} columns={[at.name, at.state]} actions={at.setUp} minWidth={640}>
      {domains.map((domain) => (
        <Table.Tr key={domain.id}>
          <Table.Td style={{ overflowWrap: "anywhere" }}>{domain.name}</Table.Td>
          <Table.Td>
            <DomainState domain={domain} />
          </Table.Td>
          <Table.Td>
            <Group gap="xs" justify="end" wrap="nowrap">
              {buttonOf(at.setUp, at.setUpNamed(domain.name), null, () => choose(domain, "setUp"))}
              {buttonOf(
                at.makePrimary,
                at.makePrimaryNamed(domain.name),
                forbidden ?? (domain.is_primary ? at.isPrimary : null),
                () => choose(domain, "primary"),
              )}
              {buttonOf(at.remove, at.removeNamed(domain.name), forbidden ?? whyItStays(domain), () =>
                choose(domain, "remove"),
              )}
            </Group>
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

function whyItStays(domain: Domain): string | null {
  if (domain.setup_type === "temporary") return at.temporaryStays;
  return domain.is_primary ? at.primaryStays : null;
}

function DomainState({ domain }: { readonly domain: Domain }) {
  const isTemporary = domain.setup_type === "temporary";
  return (
    <Group gap="xs">
      {domain.is_primary && <Badge variant="light">{at.primary}</Badge>}
      {isTemporary && <Badge variant="default">{at.temporary}</Badge>}
      {!isTemporary && domain.needs_proof && (
        <Badge color="yellow" variant="light">
          {at.needsProof}
        </Badge>
      )}
      {!isTemporary && (
        <Badge variant="light" color={domain.points_here ? "green" : "red"}>
          {domain.points_here ? at.pointsHere : at.pointsElsewhere}
        </Badge>
      )}
    </Group>
  );
}

function NewDomain({ environmentId }: { readonly environmentId: string }) {
  const client = useQueryClient();
  const [operationId, follow] = useState<string | null>(null);
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  const bodyOf = ({ domain_name, withWww }: { domain_name: string; withWww: boolean }) => ({
    domain_name,
    ...(withWww && { add_with_www_subdomain: true }),
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { domain_name: "", withWww: false },
    send: (values) => {
      const params = { path: { env_id: environmentId } };
      return answerOf(api.POST("/sites/environments/{env_id}/domains", { params, body: bodyOf(values) }));
    },
    done: ({ operation_id: id }, { reset }) => {
      follow(id);
      reset();
      void client.invalidateQueries({ queryKey: domainsQuery(environmentId).queryKey });
    },
  });
  return (
    <Card title={at.add} maxWidth={720}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput
            label={at.addName}
            description={at.addHint}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            {...form.getInputProps("domain_name")}
          />
          <Checkbox label={at.withWww} {...form.getInputProps("withWww", { type: "checkbox" })} />
          <Group>
            <ActionButton type="submit" reason={reason} loading={isSending}>
              {at.add}
            </ActionButton>
            <CurlButton
              method="POST"
              path={`/sites/environments/${environmentId}/domains`}
              body={bodyOf(form.values)}
            />
          </Group>
        </Stack>
      </form>
      {operationId !== null && (
        <OperationOutcome key={operationId} operationId={operationId}>
          {({ state }) => state === "succeeded" && <Text size="sm">{at.added}</Text>}
        </OperationOutcome>
      )}
    </Card>
  );
}
