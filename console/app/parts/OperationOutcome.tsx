/** Follows an operation where it was started, and shows its outcome there. */
import { Progress, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { type Followed, followedOperation } from "../api/operations.ts";
import { kindText, texts } from "../texts.ts";
import { TextLink } from "./ButtonLink.tsx";
import { Failure } from "./Failure.tsx";

interface OperationOutcomeProps {
  readonly operationId: string;
  /** Renders the outcome once the operation has ended, below the reason if it failed. */
  readonly children: (ended: Followed) => ReactNode;
}

export function OperationOutcome({ operationId, children }: OperationOutcomeProps) {
  const operation = useQuery(followedOperation(operationId));
  const { data, error } = operation;
  const client = useQueryClient();
  const hasEnded = data !== undefined && data.state !== "running";
  useEffect(() => {
    if (hasEnded) void client.invalidateQueries({ queryKey: ["sites"] });
  }, [client, hasEnded]);
  if (data === undefined && error !== null) return <Failure error={error} retry={() => void operation.refetch()} />;
  if (data === undefined || !hasEnded) {
    return (
      <Stack gap="xs">
        <Text size="sm" role="status">
          {stepOf(data)}
        </Text>
        <Progress
          value={data === undefined || data.total === 0 ? 0 : (100 * data.done) / data.total}
          animated
          aria-label={texts.operation.progress(kindText(data?.kind ?? ""))}
        />
      </Stack>
    );
  }
  // A command that failed by itself has printed why.
  const hasSaidWhy = data.printed?.ended_by === "itself";
  return (
    <Stack gap="xs" role="status">
      {data.message !== null && !hasSaidWhy && <Failure error={new Error(data.message)} />}
      {children(data)}
      <TextLink to="/operations/$operationId" params={{ operationId }} size="sm">
        {texts.operation.details}
      </TextLink>
    </Stack>
  );
}

function stepOf(operation: Followed | undefined): string {
  if (operation === undefined || operation.step === null) return texts.operation.waiting;
  return texts.operation.step(operation.done, operation.total, operation.step);
}
