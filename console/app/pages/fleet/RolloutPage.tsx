import { Badge, Group, Table, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { isUnderWay, rolloutQuery } from "../../api/fleet.ts";
import { may, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { TextLink } from "../../parts/ButtonLink.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { Page } from "../../parts/Page.tsx";
import { texts } from "../../texts.ts";
import { progressText, RolloutState } from "./Rollouts.tsx";

const at = texts.fleet;
type Rollout = Schemas["Rollout"];

/** One rollout with the state of each environment, which is followed until it ends. */
export function RolloutPage({ rolloutId }: { readonly rolloutId: string }) {
  const company = useSignedIn()?.company.id ?? "";
  const rollout = useQuery(rolloutQuery(company, rolloutId));
  const { name, update_version: version } = rollout.data ?? {};
  return (
    <Page title={name === undefined ? at.rollouts : at.rolloutTitle(name, version ?? null)}>
      <Loaded query={rollout}>
        {(found) => (
          <>
            <Group>
              <RolloutState state={found.state} />
              <Text role="status">{progressText(found)}</Text>
              {isUnderWay(found) && found.state === "running" && <Cancel company={company} rolloutId={rolloutId} />}
              {isUnderWay(found) && found.state !== "running" && (
                <Text size="sm" c="dimmed">
                  {at.finishing}
                </Text>
              )}
            </Group>
            {found.counts.updated > 0 && (
              <Text size="sm" c="dimmed">
                {at.undoHint}
              </Text>
            )}
            <DataTable label={at.environments} columns={[at.site, at.state]} actions={at.actions} minWidth={300}>
              {found.environments.map((item) => (
                <ItemRow key={item.id} item={item} />
              ))}
            </DataTable>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Cancel({ company, rolloutId }: { readonly company: string; readonly rolloutId: string }) {
  const client = useQueryClient();
  const reason = may(useSignedIn(), "manage_rollouts") ? null : texts.needs.manageRollouts;
  const cancel = useMutation({
    mutationFn: () => {
      const params = { path: { id: company, rollout_id: rolloutId } };
      return answerOf(api.POST("/company/{id}/rollouts/{rollout_id}/cancel", { params }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: rolloutQuery(company, rolloutId).queryKey }),
  });
  return (
    <>
      <Failure error={cancel.error} />
      <ActionButton variant="default" reason={reason} loading={cancel.isPending} onClick={() => cancel.mutate()}>
        {at.cancel}
      </ActionButton>
      <Text size="sm" c="dimmed">
        {at.cancelHint}
      </Text>
    </>
  );
}

const colors = { waiting: "gray", running: "blue", updated: "green", failed: "red", skipped: "gray" } as const;

function ItemRow({ item }: { readonly item: Rollout["environments"][number] }) {
  return (
    <Table.Tr>
      <Table.Td>
        <TextLink
          to="/sites/$siteId"
          params={{ siteId: item.site_id }}
          search={{ environment: item.id, tab: "updates" }}
          size="sm"
        >
          {`${item.site_display_name}, ${item.display_name}`}
        </TextLink>
        {item.is_canary && ` (${at.first})`}
      </Table.Td>
      <Table.Td>
        <Badge variant="light" miw="max-content" color={colors[item.state]}>
          {at.itemStates[item.state]}
        </Badge>
        {item.reason !== null && (
          <Text size="xs" style={{ overflowWrap: "anywhere" }}>
            {item.reason}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Group gap="xs" justify="end" miw={{ sm: 140 }}>
          {item.operation_id !== null && (
            <TextLink to="/operations/$operationId" params={{ operationId: item.operation_id }} size="sm">
              {at.show}
            </TextLink>
          )}
          {item.state === "updated" && (
            <TextLink
              to="/sites/$siteId"
              params={{ siteId: item.site_id }}
              search={{ environment: item.id, tab: "backups" }}
              size="sm"
              aria-label={at.undoNamed(item.site_display_name)}
            >
              {at.undo}
            </TextLink>
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
