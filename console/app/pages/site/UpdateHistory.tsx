import { Button, Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type OperationSummary, updatesQuery } from "../../api/operations.ts";
import { dateText } from "../../formats.ts";
import { ButtonLink } from "../../parts/ButtonLink.tsx";
import { Card } from "../../parts/Card.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { StateBadge } from "../../parts/OperationsPanel.tsx";
import { kindText, texts } from "../../texts.ts";

const at = texts.pictures;

/** Updates of the last days, with the reasons of those that were refused, and links to their screenshots. */
export function UpdateHistory({ environmentId }: { readonly environmentId: string }) {
  const updates = useInfiniteQuery(updatesQuery(environmentId));
  return (
    <Card title={at.history}>
      <Loaded query={updates}>
        {({ pages }) =>
          pages[0]?.total === 0 ? <Text size="sm">{at.noHistory}</Text> : <Updates found={listed(pages)} />
        }
      </Loaded>
      {updates.isFetchNextPageError && <Failure error={updates.error} />}
      {updates.hasNextPage && (
        <Button
          variant="default"
          style={{ alignSelf: "start" }}
          loading={updates.isFetchingNextPage}
          onClick={() => void updates.fetchNextPage()}
        >
          {at.older}
        </Button>
      )}
    </Card>
  );
}

/** Each once: while the pages are read, a new update moves the others on. */
const listed = (pages: readonly { readonly items: readonly OperationSummary[] }[]): readonly OperationSummary[] => [
  ...new Map(pages.flatMap(({ items }) => items).map((update) => [update.operation_id, update])).values(),
];

function Updates({ found }: { readonly found: readonly OperationSummary[] }) {
  return (
    <DataTable label={at.history} columns={[at.date, at.what, at.state]} actions={at.show}>
      {found.map(({ operation_id: operationId, kind, state, created_at: createdAt, message }) => (
        <Table.Tr key={operationId}>
          <Table.Td>{dateText(createdAt)}</Table.Td>
          <Table.Td>
            {kindText(kind)}
            {message !== null && <Text size="xs">{message}</Text>}
          </Table.Td>
          <Table.Td>
            <StateBadge state={state} />
          </Table.Td>
          <Table.Td ta="right">
            <ButtonLink
              to="/operations/$operationId"
              params={{ operationId }}
              variant="default"
              size="compact-sm"
              aria-label={at.showUpdate(dateText(createdAt))}
            >
              {at.show}
            </ButtonLink>
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
