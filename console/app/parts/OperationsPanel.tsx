/** The latest operations, beside every page. It shows what the API lists, so it survives reloads and shows what others have started. */
import { Badge, Button, Drawer, Group, Progress, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { isLive } from "../api/eventStream.ts";
import { endOfOperation, latestOperations, type OperationSummary } from "../api/operations.ts";
import { dateText, durationText } from "../formats.ts";
import { kindText, texts } from "../texts.ts";
import { TextLink } from "./ButtonLink.tsx";
import { Loaded } from "./Failure.tsx";

export function OperationsPanel() {
  const [isOpen, { open, close }] = useDisclosure();
  const latest = useQuery(latestOperations);
  const underWay = (latest.data ?? []).filter(({ state }) => state === "running" || state === "waiting");
  return (
    <>
      {underWay[0] !== undefined && !isLive() && <ReadAgainAtTheEnd operationId={underWay[0].operation_id} />}
      <Button variant="default" size="xs" onClick={open} aria-haspopup="dialog">
        {texts.operation.panel}
        {underWay.length > 0 && (
          <Badge circle size="sm" ml={6} variant="filled">
            {underWay.length}
          </Badge>
        )}
      </Button>
      <Drawer
        opened={isOpen}
        onClose={close}
        position="right"
        title={texts.operation.panel}
        closeButtonProps={{ "aria-label": texts.close }}
      >
        <Loaded query={latest}>
          {(operations) =>
            operations.length === 0 ? (
              <Text>{texts.operation.none}</Text>
            ) : (
              <Stack gap="md" role="list">
                {operations.map((operation) => (
                  <OperationRow key={operation.operation_id} operation={operation} onOpen={close} />
                ))}
              </Stack>
            )
          }
        </Loaded>
      </Drawer>
    </>
  );
}

/** Reads everything about sites again when the operation has ended. Events do so, too. */
function ReadAgainAtTheEnd({ operationId }: { readonly operationId: string }) {
  const client = useQueryClient();
  const { data: hasEnded } = useQuery(endOfOperation(operationId));
  useEffect(() => {
    if (hasEnded !== true) return;
    void client.invalidateQueries({ queryKey: ["operations"] });
    void client.invalidateQueries({ queryKey: ["sites"] });
  }, [client, hasEnded]);
  return null;
}

interface RowProps {
  readonly operation: OperationSummary;
  readonly onOpen?: () => void;
}

/** One operation of a list. */
export function OperationRow({ operation, onOpen }: RowProps) {
  const { kind, state, message, steps_done: done, steps_total: total } = operation;
  return (
    <Stack gap={4} role="listitem">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <TextLink
          to="/operations/$operationId"
          params={{ operationId: operation.operation_id }}
          size="sm"
          fw={600}
          {...(onOpen !== undefined && { onClick: onOpen })}
        >
          {kindText(kind)}
        </TextLink>
        <StateBadge state={state} />
      </Group>
      {state === "running" && (
        <Progress value={percent(done, total)} aria-label={texts.operation.progress(kindText(kind))} />
      )}
      <Text size="xs" c="dimmed">
        {whenText(operation)}
      </Text>
      {message !== null && <Text size="sm">{message}</Text>}
    </Stack>
  );
}

const percent = (done: number, total: number): number => (total === 0 ? 0 : (100 * done) / total);

function whenText({
  state,
  step,
  steps_done,
  steps_total,
  created_at,
  started_at,
  finished_at,
}: OperationSummary): string {
  if (state === "running" && step !== null) return texts.operation.step(steps_done, steps_total, step);
  const took = durationText(started_at, finished_at);
  return took === null ? dateText(created_at) : `${dateText(created_at)}, ${texts.operation.took(took)}`;
}

const colors = { waiting: "gray", running: "blue", succeeded: "green", failed: "red" } as const;

export function StateBadge({ state }: { readonly state: OperationSummary["state"] }) {
  return (
    <Badge color={colors[state]} variant="light" style={{ flexShrink: 0 }}>
      {texts.operation[state]}
    </Badge>
  );
}
