import { Badge, Group, Stack, Table, Text } from "@mantine/core";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { dateText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";
import { MailDialog } from "./MailDialog.tsx";
import { DeleteAllMail, MailRemovalDialog } from "./MailRemoval.tsx";
import type { TabProps } from "./tabProps.ts";

const at = texts.mail;
const words = texts.mailRemoval;
type Mail = Schemas["Mail"];

const mailsQuery = (environmentId: string) =>
  queryOptions({
    queryKey: ["sites", "mails", environmentId],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId }, query: { limit: 100 } };
      return (await answerOf(api.GET("/sites/environments/{env_id}/mails", { params, signal }))).environment;
    },
  });

/** Mail that an environment has sent, and whether it leaves this installation. */
export function MailTab({ environment: { id, display_name: name } }: TabProps) {
  const mails = useQuery(mailsQuery(id));
  const [open, setOpen] = useState<{ readonly mail: Mail; readonly dialog: "read" | "remove" } | null>(null);
  const close = () => setOpen(null);
  return (
    <Stack key={id}>
      <Loaded query={mails}>
        {({ mails: { items }, effective_delivery: delivery, has_mail_server: hasServer }) => (
          <>
            <Delivery environmentId={id} delivery={delivery} hasServer={hasServer} />
            {items.length === 0 ? (
              <EmptyState title={at.empty} hint={at.emptyHint} />
            ) : (
              <>
                <MailTable environmentId={id} mails={items} choose={(mail, dialog) => setOpen({ mail, dialog })} />
                <DeleteAllMail environmentId={id} environmentName={name} />
              </>
            )}
          </>
        )}
      </Loaded>
      {open?.dialog === "read" && <MailDialog environmentId={id} mail={open.mail} close={close} />}
      {open?.dialog === "remove" && <MailRemovalDialog environmentId={id} mail={open.mail} close={close} />}
    </Stack>
  );
}

interface DeliveryProps {
  readonly environmentId: string;
  readonly delivery: "send" | "keep";
  readonly hasServer: boolean;
}

function Delivery({ environmentId, delivery, hasServer }: DeliveryProps) {
  const client = useQueryClient();
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const body = { delivery: delivery === "send" ? "keep" : "send" } as const;
  const change = useMutation({
    mutationFn: () => {
      const params = { path: { env_id: environmentId } };
      return answerOf(api.PUT("/sites/environments/{env_id}/mail", { params, body }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: mailsQuery(environmentId).queryKey }),
  });
  return (
    <Stack gap="xs">
      <Failure error={change.error} />
      <Group justify="space-between">
        <Text>{!hasServer ? at.noServer : delivery === "send" ? at.sending : at.kept}</Text>
        <Group>
          <ActionButton
            variant="default"
            reason={forbidden ?? (hasServer ? null : at.noServerReason)}
            loading={change.isPending}
            onClick={() => change.mutate()}
          >
            {delivery === "send" ? at.turnOff : at.turnOn}
          </ActionButton>
          <CurlButton method="PUT" path={`/sites/environments/${environmentId}/mail`} body={body} />
        </Group>
      </Group>
    </Stack>
  );
}

const colors = { kept: "gray", queued: "blue", sent: "green", bounced: "red", failed: "red" } as const;
const sendable: readonly Mail["state"][] = ["kept", "bounced", "failed"];

interface MailTableProps {
  readonly environmentId: string;
  readonly mails: readonly Mail[];
  readonly choose: (mail: Mail, dialog: "read" | "remove") => void;
}

function MailTable({ environmentId, mails, choose }: MailTableProps) {
  const client = useQueryClient();
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const deliver = useMutation({
    mutationFn: (id: string) => {
      const params = { path: { env_id: environmentId, mail_id: id } };
      return answerOf(api.POST("/sites/environments/{env_id}/mails/{mail_id}/deliver", { params }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: mailsQuery(environmentId).queryKey }),
  });
  return (
    <>
      <Failure error={deliver.error} />
      <DataTable label={at.list} columns={[at.subject, at.date, at.state]} actions={at.show}>
        {mails.map((mail) => (
          <Table.Tr key={mail.id}>
            <Table.Td style={{ overflowWrap: "anywhere" }}>
              <Text size="sm">{mail.subject === "" ? at.noSubject : mail.subject}</Text>
              <Text size="xs" c="dimmed">
                {at.to(mail.recipients.join(", "))}
              </Text>
              {mail.last_error !== null && <Text size="xs">{mail.last_error}</Text>}
            </Table.Td>
            <Table.Td>{dateText(mail.created_at)}</Table.Td>
            <Table.Td>
              <Badge variant="light" color={colors[mail.state]}>
                {at.states[mail.state]}
              </Badge>
            </Table.Td>
            <Table.Td>
              <Group gap="xs" justify="end" wrap="nowrap">
                {sendable.includes(mail.state) && (
                  <ActionButton
                    size="compact-sm"
                    variant="subtle"
                    reason={forbidden}
                    aria-label={at.sendNamed(mail.subject)}
                    onClick={() => deliver.mutate(mail.id)}
                  >
                    {at.send}
                  </ActionButton>
                )}
                <ActionButton
                  size="compact-sm"
                  variant="default"
                  aria-label={at.showNamed(mail.subject)}
                  onClick={() => choose(mail, "read")}
                >
                  {at.show}
                </ActionButton>
                <ActionButton
                  size="compact-sm"
                  variant="subtle"
                  reason={forbidden}
                  aria-label={words.removeNamed(mail.subject)}
                  onClick={() => choose(mail, "remove")}
                >
                  {words.remove}
                </ActionButton>
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </>
  );
}
