import { Code, Table, Text } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { dateText } from "../../formats.ts";
import { Card } from "../../parts/Card.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.refusedStatements;

const refusedQuery = (environmentId: string) =>
  queryOptions({
    queryKey: ["logs", "refused", environmentId],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId } };
      return (await answerOf(api.GET("/sites/environments/{env_id}/refused-statements", { params, signal })))
        .environment;
    },
  });

/** SQL statements that work on MySQL, but not on the environment's database. */
export function RefusedStatements({ environmentId }: { readonly environmentId: string }) {
  const refused = useQuery(refusedQuery(environmentId));
  return (
    <Card title={at.title}>
      <Text size="sm">{at.hint}</Text>
      <Loaded query={refused}>
        {({ refused_statements: found, is_complete: isComplete }) =>
          found.length === 0 ? (
            <Text size="sm">{at.none}</Text>
          ) : (
            <>
              <DataTable label={at.title} columns={[at.plugin, at.reason, at.count, at.last]} minWidth={720}>
                {found.map((row) => (
                  <Table.Tr key={`${row.plugin} ${row.reason}`}>
                    <Table.Td>{row.plugin ?? at.unknownPlugin}</Table.Td>
                    <Table.Td>{row.reason}</Table.Td>
                    <Table.Td>{row.count}</Table.Td>
                    <Table.Td style={{ overflowWrap: "anywhere" }}>
                      {dateText(row.last_refused_at)}
                      <br />
                      <Code>{row.latest_statement}</Code>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              {!isComplete && <Text size="sm">{at.incomplete}</Text>}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
