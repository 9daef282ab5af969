import { Alert, Badge, Checkbox, Group, Stack, Table, Text, TextInput } from "@mantine/core";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ComponentType, useState } from "react";
import { answerOf, api, type Schemas } from "../api/client.ts";
import { may, useSignedIn } from "../api/session.ts";
import { dateText } from "../formats.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { Card } from "../parts/Card.tsx";
import { ConfirmDialog } from "../parts/ConfirmDialog.tsx";
import { CopyId } from "../parts/CopyId.tsx";
import { CurlButton } from "../parts/CurlButton.tsx";
import { DataTable } from "../parts/DataTable.tsx";
import { EmptyState } from "../parts/EmptyState.tsx";
import { Failure, Loaded } from "../parts/Failure.tsx";
import { Page } from "../parts/Page.tsx";
import { useApiForm } from "../parts/useApiForm.ts";
import { texts } from "../texts.ts";
import { AddressesDialog, RotationDialog } from "./ApiKeyDialogs.tsx";

const at = texts.apiKeys;
const words = texts.keyChanges;
type ApiKey = Schemas["ApiKey"];

const apiKeysQuery = (company: string) =>
  queryOptions({
    queryKey: ["api-keys", company],
    queryFn: async ({ signal }) => {
      const params = { path: { id: company } };
      return (await answerOf(api.GET("/company/{id}/api-keys", { params, signal }))).api_keys;
    },
  });

/** The company's API keys: created, listed and revoked. */
export function ApiKeysPage() {
  const company = useSignedIn()?.company.id ?? "";
  const keys = useQuery(apiKeysQuery(company));
  return (
    <Page title={at.title}>
      <Text>{at.hint}</Text>
      <NewKey company={company} />
      <Loaded query={keys}>
        {(found) =>
          found.length === 0 ? (
            <EmptyState title={at.empty} hint={at.emptyHint} />
          ) : (
            <KeyTable keys={found} company={company} />
          )
        }
      </Loaded>
    </Page>
  );
}

function NewKey({ company }: { readonly company: string }) {
  const client = useQueryClient();
  const [token, setToken] = useState<string | null>(null);
  const mayCreate = may(useSignedIn(), "manage_keys");
  const bodyOf = ({ name, isReadOnly }: { name: string; isReadOnly: boolean }) => ({
    name,
    ...(isReadOnly && { scopes: ["read"] }),
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { name: "", isReadOnly: false },
    send: (values) => {
      const params = { path: { id: company } };
      return answerOf(api.POST("/company/{id}/api-keys", { params, body: bodyOf(values) }));
    },
    done: (created, { reset }) => {
      setToken(created.token);
      reset();
      void client.invalidateQueries({ queryKey: apiKeysQuery(company).queryKey });
    },
  });
  return (
    <Card title={at.create} maxWidth={720}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput label={at.name} description={at.nameHint} autoComplete="off" {...form.getInputProps("name")} />
          <Checkbox label={at.readOnly} {...form.getInputProps("isReadOnly", { type: "checkbox" })} />
          <Group>
            <ActionButton type="submit" loading={isSending} reason={mayCreate ? null : texts.needsRole}>
              {texts.create}
            </ActionButton>
            <CurlButton method="POST" path={`/company/${company}/api-keys`} body={bodyOf(form.values)} />
          </Group>
          {token !== null && (
            <Alert role="status" title={at.token}>
              <Stack gap="xs">
                <Text size="sm">{at.tokenHint}</Text>
                <CopyId value={token} name={at.token} />
              </Stack>
            </Alert>
          )}
        </Stack>
      </form>
    </Card>
  );
}

const colors = { active: "green", revoked: "gray", expired: "gray" } as const;

function KeyTable({ keys, company }: { readonly keys: readonly ApiKey[]; readonly company: string }) {
  const [chosen, choose] = useState<{ readonly key: ApiKey; readonly Dialog: ComponentType<DialogProps> } | null>(null);
  return (
    <>
      <DataTable
        label={at.list}
        columns={[at.name, at.state, at.lastUsed, at.expires]}
        actions={at.revoke}
        minWidth={720}
      >
        {keys.map((key) => (
          <Table.Tr key={key.id}>
            <Table.Td>{key.name}</Table.Td>
            <Table.Td>
              <Badge variant="light" color={colors[key.status]}>
                {at.status[key.status]}
              </Badge>
            </Table.Td>
            <Table.Td>{key.last_used_at === null ? at.never : dateText(key.last_used_at)}</Table.Td>
            <Table.Td>{key.expires_at === null ? at.never : dateText(key.expires_at)}</Table.Td>
            <Table.Td ta="right">
              {key.status === "active" && <KeyActions apiKey={key} choose={(Dialog) => choose({ key, Dialog })} />}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {chosen !== null && <chosen.Dialog apiKey={chosen.key} company={company} close={() => choose(null)} />}
    </>
  );
}

interface DialogProps {
  readonly apiKey: ApiKey;
  readonly company: string;
  readonly close: () => void;
}

interface KeyActionsProps {
  readonly apiKey: ApiKey;
  readonly choose: (dialog: ComponentType<DialogProps>) => void;
}

function KeyActions({ apiKey: { name, replaced_by: successor }, choose }: KeyActionsProps) {
  const buttonOf = (label: string, named: string, dialog: ComponentType<DialogProps>) => (
    <ActionButton size="compact-sm" variant="default" aria-label={named} onClick={() => choose(dialog)}>
      {label}
    </ActionButton>
  );
  return (
    <Group gap="xs" justify="end" wrap="nowrap">
      {buttonOf(words.change, words.changeNamed(name), AddressesDialog)}
      {successor === null && buttonOf(words.rotate, words.rotateNamed(name), RotationDialog)}
      {buttonOf(at.revoke, at.revokeNamed(name), Revocation)}
    </Group>
  );
}

function Revocation({ apiKey, company, close }: DialogProps) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => {
      const params = { path: { id: company, key_id: apiKey.id }, query: { keep_successor: false } };
      return answerOf(api.DELETE("/company/{id}/api-keys/{key_id}", { params }));
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: apiKeysQuery(company).queryKey });
      close();
    },
  });
  return (
    <ConfirmDialog
      title={at.revokeNamed(apiKey.name)}
      warning={at.revokeWarning}
      name={apiKey.name}
      verb={at.revoke}
      mutation={revoke}
      close={close}
      request={{ method: "DELETE", path: `/company/${company}/api-keys/${apiKey.id}` }}
    />
  );
}
