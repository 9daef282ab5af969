import { Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { answerOf, api } from "../../../api/client.ts";
import { dateText } from "../../../formats.ts";
import { Card } from "../../../parts/Card.tsx";
import { DataTable } from "../../../parts/DataTable.tsx";
import { Loaded } from "../../../parts/Failure.tsx";
import { Notice } from "../../../parts/Notice.tsx";
import { texts } from "../../../texts.ts";

const at = texts.settings;

/** Tasks that WordPress and its plugins have scheduled. */
export function ScheduledTasks({ environmentId }: { readonly environmentId: string }) {
  const tasks = useQuery({
    queryKey: ["sites", "cron", environmentId],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId } };
      return (await answerOf(api.GET("/sites/environments/{env_id}/cron-events", { params, signal }))).environment;
    },
  });
  return (
    <Card title={at.cron}>
      <Loaded query={tasks}>
        {({ cron_events: events, last_run: run, problem }) => (
          <>
            {problem !== null && <Notice>{problem}</Notice>}
            {run?.error != null && <Notice>{run.error}</Notice>}
            {run != null && <Text size="sm">{at.lastRun(dateText(run.began_at))}</Text>}
            {events.length === 0 ? (
              <Text size="sm">{at.noCron}</Text>
            ) : (
              <DataTable label={at.cron} columns={[at.hook, at.next, at.recurrence]}>
                {events.map((event) => (
                  <Table.Tr key={`${event.site} ${event.hook} ${event.args} ${event.next_run_at}`}>
                    <Table.Td style={{ overflowWrap: "anywhere" }}>{event.hook}</Table.Td>
                    <Table.Td>{dateText(event.next_run_at)}</Table.Td>
                    <Table.Td>{event.recurrence ?? at.once}</Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}
