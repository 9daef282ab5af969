/** The results of bulk actions, shown next to every page until the panel is closed. */
import { Alert, Button, Group, Paper, Progress, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type BulkItem, type BulkRun, dismissBulk, retryFailed, useBulkRuns } from "../api/bulk.ts";
import { texts } from "../texts.ts";

const at = texts.bulk;

export function BulkPanel() {
  const runs = useBulkRuns();
  if (runs.length === 0) return null;
  return (
    <Stack component="section" aria-label={at.panel} className="bulk-panel" gap="sm">
      {runs.map((run) => (
        <RunCard key={run.id} run={run} />
      ))}
    </Stack>
  );
}

/** Sites in this state. */
const countOf = (items: readonly BulkItem[], state: BulkItem["state"]): number =>
  items.filter((item) => item.state === state).reduce((sum, { sites }) => sum + sites, 0);

function RunCard({ run: { id, title, items } }: { readonly run: BulkRun }) {
  const [isListed, list] = useState(false);
  const countIn = (state: BulkItem["state"]) => countOf(items, state);
  const [done, failed, running, unneeded] = [
    countIn("succeeded"),
    countIn("failed"),
    countIn("running"),
    countIn("unneeded"),
  ];
  const all = items.reduce((sum, { sites }) => sum + sites, 0);
  const unsent = items.filter(({ state }) => state === "unsent").length;
  const hasEnded = unsent === 0 && running === 0;
  useReadAgain(hasEnded);
  return (
    <Paper withBorder shadow="md" p="md">
      <Stack gap="xs">
        <Text fw={600} size="sm">
          {at.title(title, all)}
        </Text>
        <Progress.Root aria-hidden="true">
          <Progress.Section value={(100 * (done + unneeded)) / all} color="green" />
          <Progress.Section value={(100 * failed) / all} color="red" />
        </Progress.Root>
        <Text size="sm" role="status">
          {at.counts({ done, failed, running, unneeded, unsent: countIn("unsent") })}
        </Text>
        {unsent > 0 && (
          <Alert color="yellow" p="xs">
            <Text size="sm">{at.keepOpen(unsent)}</Text>
          </Alert>
        )}
        {isListed && <Failures items={items} />}
        <Group gap="xs">
          {failed > 0 && (
            <>
              <Button size="compact-sm" variant="default" onClick={() => list(!isListed)} aria-expanded={isListed}>
                {isListed ? at.hideFailures : at.failures}
              </Button>
              <Button size="compact-sm" variant="default" onClick={() => retryFailed(id)}>
                {at.retry(failed)}
              </Button>
            </>
          )}
          {hasEnded && (
            <Button size="compact-sm" variant="default" onClick={() => dismissBulk(id)}>
              {at.dismiss}
            </Button>
          )}
        </Group>
      </Stack>
    </Paper>
  );
}

/** Reads everything about sites again at the end. */
function useReadAgain(hasEnded: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (hasEnded) void client.invalidateQueries({ queryKey: ["sites"] });
  }, [client, hasEnded]);
}

/** More would be too many to read. */
const maxShown = 200;

function Failures({ items }: { readonly items: readonly BulkItem[] }) {
  return (
    <Stack component="ul" className="list bulk-failures" tabIndex={0} gap={0}>
      {items
        .flatMap((item, index) => (item.state === "failed" ? [{ ...item, index }] : []))
        .slice(0, maxShown)
        .map(({ name, reason, index }) => (
          <li key={index}>
            <Text size="sm" py={4} style={{ overflowWrap: "anywhere" }}>
              <Text span fw={600} size="sm">
                {name}:
              </Text>{" "}
              {reason}
            </Text>
          </li>
        ))}
    </Stack>
  );
}
