import { Stack, Table, Text } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { dateText, dayText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { useStartAndFollow } from "../../parts/useStartAndFollow.ts";
import { texts } from "../../texts.ts";
import { Deletions } from "./Deletions.tsx";
import { EnvironmentCopy } from "./EnvironmentCopy.tsx";
import { NewEnvironment } from "./NewEnvironment.tsx";
import { Push } from "./Push.tsx";
import { SiteCopy } from "./SiteCopy.tsx";
import type { TabProps } from "./tabProps.ts";

const at = texts.environments;

/** Copies of the site: made, pushed over each other, deleted and restored. */
export function EnvironmentsTab(props: TabProps) {
  return (
    <Stack key={props.environment.id}>
      <EnvironmentCopy {...props} />
      <NewEnvironment siteId={props.siteId} />
      <SiteCopy environment={props.environment} />
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
