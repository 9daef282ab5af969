import { Group, Stack, Table, Text } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { dateText, dayText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { useStartAndFollow } from "../../parts/useStartAndFollow.ts";
import { texts } from "../../texts.ts";
import { EnvironmentCopy } from "./EnvironmentCopy.tsx";
import { Push } from "./Push.tsx";
import type { TabProps } from "./tabProps.ts";

const at = texts.environments;

/** Copies of the site: made, pushed over each other, deleted and restored. */
export function EnvironmentsTab(props: TabProps) {
  return (
    <Stack key={props.environment.id}>
      <EnvironmentCopy {...props} />
      <Push {...props} />
      <DeletedEnvironments {...props} />
      <Deletions {...props} />
    </Stack>
  );
}

const deletedQuery = (siteId: string) =>
  queryOptions({
    queryKey: ["sites", siteId, "deleted-environments"],
    queryFn: async ({ signal }) => {
      const params = { path: { site_id: siteId } };
      return (await answerOf(api.GET("/sites/{site_id}/deleted-environments", { params, signal }))).site
        .deleted_environments;
    },
  });

function DeletedEnvironments({ siteId }: TabProps) {
  const deleted = useQuery(deletedQuery(siteId));
  return (
    <Card title={at.deleted}>
      <Loaded query={deleted}>
        {(found) =>
          found.length === 0 ? (
            <Text size="sm">{at.noneDeleted}</Text>
          ) : (
            <DataTable label={at.deleted} columns={[at.environment, at.deletedAt, at.until]} actions={at.restore}>
              {found.map((environment) => (
                <DeletedRow key={environment.id} siteId={siteId} environment={environment} />
              ))}
            </DataTable>
          )
        }
      </Loaded>
    </Card>
  );
}

interface DeletedRowProps {
  readonly siteId: string;
  readonly environment: Schemas["DeletedEnvironment"];
}

function DeletedRow({ siteId, environment }: DeletedRowProps) {
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const restore = useStartAndFollow(() => {
    const params = { path: { site_id: siteId, env_id: environment.id } };
    return answerOf(api.POST("/sites/{site_id}/deleted-environments/{env_id}/restore", { params, body: {} }));
  });
  return (
    <Table.Tr>
      <Table.Td>{environment.display_name}</Table.Td>
      <Table.Td>{dateText(environment.deleted_at)}</Table.Td>
      <Table.Td>{dayText(environment.restorable_until)}</Table.Td>
      <Table.Td ta="right">
        <Failure error={restore.error} />
        <ActionButton
          size="compact-sm"
          variant="default"
          reason={forbidden}
          loading={restore.isPending}
          aria-label={at.restoreNamed(environment.display_name)}
          onClick={restore.mutate}
        >
          {at.restore}
        </ActionButton>
      </Table.Td>
    </Table.Tr>
  );
}

function Deletions({ siteId, siteName, environment, environments }: TabProps) {
  const [chosen, choose] = useState<"environment" | "site" | null>(null);
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const isNeeded = environment.name === "live" && environments.length > 1;
  const close = () => choose(null);
  return (
    <Card title={at.danger}>
      <Group>
        <ActionButton
          variant="default"
          reason={forbidden ?? (isNeeded ? at.otherFirst : null)}
          onClick={() => choose("environment")}
        >
          {at.deleteEnvironment(environment.display_name)}
        </ActionButton>
        <ActionButton variant="default" reason={forbidden} onClick={() => choose("site")}>
          {at.deleteSite}
        </ActionButton>
      </Group>
      {chosen === "environment" && (
        <DeletionDialog
          title={at.deleteEnvironment(environment.display_name)}
          name={environment.display_name}
          path={`/sites/environments/${environment.id}`}
          close={close}
          call={() => {
            const params = { path: { env_id: environment.id } };
            return answerOf(api.DELETE("/sites/environments/{env_id}", { params }));
          }}
        />
      )}
      {chosen === "site" && (
        <DeletionDialog
          title={at.deleteSite}
          name={siteName}
          path={`/sites/${siteId}`}
          close={close}
          call={() => answerOf(api.DELETE("/sites/{site_id}", { params: { path: { site_id: siteId } } }))}
        />
      )}
    </Card>
  );
}

interface DeletionDialogProps {
  readonly title: string;
  readonly name: string;
  /** Below `/v2`. */
  readonly path: string;
  readonly close: () => void;
  readonly call: () => Promise<Schemas["Accepted"]>;
}

function DeletionDialog({ title, name, path, close, call }: DeletionDialogProps) {
  const deletion = useStartAndFollow(call);
  return (
    <ConfirmDialog
      title={title}
      warning={at.deleteWarning}
      name={name}
      verb={at.deleteNow}
      mutation={deletion}
      close={close}
      request={{ method: "DELETE", path }}
    />
  );
}
