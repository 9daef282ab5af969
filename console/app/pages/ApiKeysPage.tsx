import { Alert, Badge, Checkbox, Group, Stack, Table, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ComponentType, useState } from "react";
import { type ApiKey, apiKeysQuery } from "../api/apiKeys.ts";
import { answerOf, api } from "../api/client.ts";
import { may, useSignedIn } from "../api/session.ts";
import { dateText } from "../formats.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { Card } from "../parts/Card.tsx";
import { CopyId } from "../parts/CopyId.tsx";
import { CurlButton } from "../parts/CurlButton.tsx";
import { DataTable } from "../parts/DataTable.tsx";
import { EmptyState } from "../parts/EmptyState.tsx";
import { Failure, Loaded } from "../parts/Failure.tsx";
import { LabelsField } from "../parts/LabelsField.tsx";
import { Page } from "../parts/Page.tsx";
import { useApiForm } from "../parts/useApiForm.ts";
import { texts } from "../texts.ts";
import { AddressesDialog, type ApiKeyDialogProps, RotationDialog } from "./ApiKeyDialogs.tsx";
import { RevocationDialog } from "./RevocationDialog.tsx";

const at = texts.apiKeys;
const words = texts.keyChanges;

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

interface NewKeyValues extends Record<string, unknown> {
  readonly name: string;
  readonly isReadOnly: boolean;
  /** Ids. Empty: the key is not limited by labels. */
  readonly labels: readonly string[];
}

function bodyOf({ name, isReadOnly, labels }: NewKeyValues) {
  const scopes = [...(isReadOnly ? ["read"] : []), ...labels.map((id) => `label:${id}`)];
  return { name, ...(scopes.length > 0 && { scopes }) };
}

function NewKey({ company }: { readonly company: string }) {
  const client = useQueryClient();
  const [token, setToken] = useState<string | null>(null);
  const mayCreate = may(useSignedIn(), "manage_keys");
  const initialValues: NewKeyValues = { name: "", isReadOnly: false, labels: [] };
  const { form, isSending, error, submit } = useApiForm({
    initialValues,
    send: (values) => {
      const params = { path: { id: company } };
      return answerOf(api.POST("/company/{id}/api-keys", { params, body: bodyOf(values) }));
    },
    done: (created, { reset }) => {
      setToken(created.token);
      reset();
      void client.invalidateQueries({ queryKey: apiKeysQuery(company).queryKey });
    },
    fields: { unknown_label: "labels" },
  });
  return (
    <Card title={at.create} maxWidth={720}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput label={at.name} description={at.nameHint} autoComplete="off" {...form.getInputProps("name")} />
          <Checkbox label={at.readOnly} {...form.getInputProps("isReadOnly", { type: "checkbox" })} />
          <LabelsField
            company={company}
            label={texts.keyScope.labels}
            hint={texts.keyScope.labelsHint}
            value={form.values.labels}
            onChange={(labels) => form.setFieldValue("labels", labels)}
            error={form.errors.labels}
          />
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
  const [chosen, choose] = useState<{ readonly key: ApiKey; readonly Dialog: ComponentType<ApiKeyDialogProps> } | null>(
    null,
  );
  const isReplaced = ({ replaced_by: successor }: ApiKey) =>
    keys.some(({ id, status }) => id === successor && status === "active");
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
              <Group gap="xs">
                <Badge variant="light" color={colors[key.status]}>
                  {at.status[key.status]}
                </Badge>
                {isReplaced(key) && <Badge variant="default">{texts.keyRevocation.replaced}</Badge>}
              </Group>
            </Table.Td>
            <Table.Td>{key.last_used_at === null ? at.never : dateText(key.last_used_at)}</Table.Td>
            <Table.Td>{key.expires_at === null ? at.never : dateText(key.expires_at)}</Table.Td>
            <Table.Td ta="right">
              {key.status === "active" && <KeyActions apiKey={key} choose={(Dialog) => choose({ key, Dialog })} />}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {chosen !== null && (
        <chosen.Dialog
          apiKey={chosen.key}
          isReplaced={isReplaced(chosen.key)}
          company={company}
          close={() => choose(null)}
        />
      )}
    </>
  );
}

interface KeyActionsProps {
  readonly apiKey: ApiKey;
  readonly choose: (dialog: ComponentType<ApiKeyDialogProps>) => void;
}

function KeyActions({ apiKey: { name, replaced_by: successor }, choose }: KeyActionsProps) {
  const buttonOf = (label: string, named: string, dialog: ComponentType<ApiKeyDialogProps>) => (
    <ActionButton size="compact-sm" variant="default" aria-label={named} onClick={() => choose(dialog)}>
      {label}
    </ActionButton>
  );
  return (
    <Group gap="xs" justify="end" wrap="nowrap">
      {buttonOf(words.change, words.changeNamed(name), AddressesDialog)}
      {successor === null && buttonOf(words.rotate, words.rotateNamed(name), RotationDialog)}
      {buttonOf(at.revoke, texts.keyRevocation.title(name), RevocationDialog)}
    </Group>
  );
}
