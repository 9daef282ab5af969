import { Group, Select, Stack, Table, Text, TextInput } from "@mantine/core";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";
import { RedirectFile } from "./RedirectFile.tsx";
import type { TabProps } from "./tabProps.ts";

const at = texts.redirects;
const limit = 100;
type Rule = Schemas["RedirectRule"];
type NewRuleValues = Pick<Rule, "from" | "to" | "type">;
const noRule: NewRuleValues = { from: "", to: "", type: "permanent" };

/** The first rules of an environment, and how many there are. */
const rulesQuery = (environmentId: string) =>
  queryOptions({
    queryKey: ["sites", "redirects", environmentId],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId }, query: { limit } };
      const { environment } = await answerOf(
        api.GET("/sites/environments/{env_id}/redirect-rules", { params, signal }),
      );
      return environment.container_info.redirect_rules;
    },
  });

/** Redirects of an environment: added, listed, removed and tested. */
export function RedirectsTab({ environment: { id } }: TabProps) {
  const rules = useQuery(rulesQuery(id));
  return (
    <Stack key={id}>
      <NewRule environmentId={id} />
      <RuleTester environmentId={id} />
      <RedirectFile environmentId={id} />
      <Loaded query={rules}>
        {({ rules: found, redirect_rules_count: count }) =>
          found.length === 0 ? (
            <EmptyState title={at.empty} hint={at.emptyHint} />
          ) : (
            <>
              <RuleTable environmentId={id} rules={found} />
              {found.length < count && <Text size="sm">{at.more(found.length, count)}</Text>}
            </>
          )
        }
      </Loaded>
    </Stack>
  );
}

function NewRule({ environmentId }: { readonly environmentId: string }) {
  const client = useQueryClient();
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  const bodyOf = ({ from, to, type }: NewRuleValues) => ({
    action_type: "NEW" as const,
    new_value: { from, to, type, domain: null },
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { ...noRule },
    send: (values) => {
      const params = { path: { env_id: environmentId } };
      return answerOf(api.POST("/sites/environments/{env_id}/redirect-rules", { params, body: bodyOf(values) }));
    },
    done: (_, { reset }) => {
      reset();
      void client.invalidateQueries({ queryKey: rulesQuery(environmentId).queryKey });
    },
  });
  const path = `/sites/environments/${environmentId}/redirect-rules`;
  return (
    <Card title={at.add} maxWidth={720}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput label={at.from} description={at.fromHint} autoComplete="off" {...form.getInputProps("from")} />
          <TextInput label={at.to} description={at.toHint} autoComplete="off" {...form.getInputProps("to")} />
          <Select
            label={at.type}
            allowDeselect={false}
            data={[
              { value: "permanent", label: at.types.permanent },
              { value: "redirect", label: at.types.redirect },
            ]}
            {...form.getInputProps("type")}
          />
          <Group>
            <ActionButton type="submit" reason={reason} loading={isSending}>
              {at.add}
            </ActionButton>
            <CurlButton method="POST" path={path} body={bodyOf(form.values)} />
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

function RuleTester({ environmentId }: { readonly environmentId: string }) {
  const test = useMutation({
    mutationFn: (url: string) => {
      const params = { path: { env_id: environmentId } };
      return answerOf(api.POST("/sites/environments/{env_id}/redirect-rules/test", { params, body: { url } }));
    },
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { url: "" },
    send: ({ url }) => test.mutateAsync(url),
  });
  return (
    <Card title={at.test} maxWidth={720}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput label={at.url} description={at.urlHint} autoComplete="off" {...form.getInputProps("url")} />
          <Group>
            <ActionButton type="submit" variant="default" loading={isSending}>
              {at.testNow}
            </ActionButton>
            <CurlButton
              method="POST"
              path={`/sites/environments/${environmentId}/redirect-rules/test`}
              body={form.values}
            />
            {test.data !== undefined && (
              <Text role="status" style={{ overflowWrap: "anywhere" }}>
                {test.data.status === null ? at.noRule : at.leads(test.data.status, test.data.location ?? "")}
              </Text>
            )}
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

function RuleTable({ environmentId, rules }: { readonly environmentId: string; readonly rules: readonly Rule[] }) {
  const client = useQueryClient();
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const remove = useMutation({
    mutationFn: (rule: Rule) => {
      const params = { path: { env_id: environmentId } };
      const body = { action_type: "DELETE" as const, rules_to_update: [rule] };
      return answerOf(api.POST("/sites/environments/{env_id}/redirect-rules", { params, body }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: rulesQuery(environmentId).queryKey }),
  });
  return (
    <>
      <Failure error={remove.error} />
      <DataTable label={at.list} columns={[at.from, at.to, at.type]} actions={at.remove}>
        {rules.map((rule) => (
          <Table.Tr key={JSON.stringify(rule)}>
            <Table.Td style={{ overflowWrap: "anywhere" }}>
              {rule.from}
              <Text size="xs" c="dimmed">
                {[rule.domain ?? at.allDomains, rule.displayed_location].filter((text) => text !== null).join(", ")}
              </Text>
            </Table.Td>
            <Table.Td style={{ overflowWrap: "anywhere" }}>{rule.to}</Table.Td>
            <Table.Td>{at.types[rule.type]}</Table.Td>
            <Table.Td ta="right">
              <ActionButton
                size="compact-sm"
                variant="default"
                reason={forbidden}
                aria-label={at.removeNamed(rule.from)}
                onClick={() => remove.mutate(rule)}
              >
                {at.remove}
              </ActionButton>
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </>
  );
}
