import { Alert, Anchor, Button, Group, Paper, Progress, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { ApiFailure } from "../api/failure.ts";
import { type Followed, followedOperation, isUpdate } from "../api/operations.ts";
import { siteQuery } from "../api/sites.ts";
import { durationText } from "../formats.ts";
import { ButtonLink } from "../parts/ButtonLink.tsx";
import { CopyId } from "../parts/CopyId.tsx";
import { Failure, Loaded } from "../parts/Failure.tsx";
import { OperationPictures } from "../parts/OperationPictures.tsx";
import { StateBadge } from "../parts/OperationsPanel.tsx";
import { Page } from "../parts/Page.tsx";
import { kindText, texts } from "../texts.ts";

const at = texts.operation;

/** Follows an operation until it has ended. */
export function OperationPage({ operationId }: { readonly operationId: string }) {
  const operation = useQuery(followedOperation(operationId));
  const client = useQueryClient();
  const hasEnded = operation.data !== undefined && operation.data.state !== "running";
  useEffect(() => {
    if (!hasEnded) return;
    void client.invalidateQueries({ queryKey: ["sites"] });
    void client.invalidateQueries({ queryKey: ["operations"] });
  }, [client, hasEnded]);
  return (
    <Page title={operation.data === undefined ? at.title : kindText(operation.data.kind)}>
      <Loaded query={operation}>{(followed) => <Course operation={followed} />}</Loaded>
      {operation.data !== undefined && hasEnded && isUpdate(operation.data) && (
        <OperationPictures operationId={operationId} />
      )}
      <CopyId value={operationId} name={at.title} />
    </Page>
  );
}

function Course({ operation }: { readonly operation: Followed }) {
  const { state, kind, step, done, total, message, startedAt, finishedAt } = operation;
  const took = durationText(startedAt, finishedAt);
  const value = state === "succeeded" ? 100 : total === 0 ? 0 : (100 * done) / total;
  return (
    <Paper withBorder p="lg" maw={640}>
      <Stack>
        <Group justify="space-between">
          <Text role="status">
            {state === "running" ? stepText(step, done, total) : took === null ? "" : at.took(took)}
          </Text>
          <StateBadge state={state} />
        </Group>
        <Progress
          value={value}
          color={state === "failed" ? "red" : state === "succeeded" ? "green" : "blue"}
          animated={state === "running"}
          aria-label={at.progress(kindText(kind))}
        />
        {message !== null && (
          <Alert color="red" role="alert" styles={{ message: { color: "var(--mantine-color-text)" } }}>
            {message}
          </Alert>
        )}
        {state === "succeeded" && <Next operation={operation} />}
      </Stack>
    </Paper>
  );
}

const stepText = (step: string | null, done: number, total: number): string =>
  step === null ? at.waiting : at.step(done, total, step);

/** Where to go on. The site may have been deleted since, or by the operation itself. */
function Next({ operation: { siteId, address } }: { readonly operation: Followed }) {
  const site = useQuery({ ...siteQuery(siteId ?? ""), enabled: siteId !== null });
  if (siteId === null || site.isPending) return null;
  if (site.error instanceof ApiFailure && site.error.status === 404) {
    return (
      <Group>
        <Text size="sm">{at.siteGone}</Text>
        <ButtonLink to="/deleted-sites" variant="default">
          {texts.deletedSites.link}
        </ButtonLink>
      </Group>
    );
  }
  if (site.error !== null) return <Failure error={site.error} retry={() => void site.refetch()} />;
  return (
    <Group>
      {address !== null && (
        <Button component="a" href={address} target="_blank" rel="noreferrer">
          {at.openSite}
        </Button>
      )}
      <ButtonLink to="/sites/$siteId" params={{ siteId }} variant="default">
        {at.manageSite}
      </ButtonLink>
      {address !== null && (
        <Anchor href={address} target="_blank" rel="noreferrer" size="sm">
          {address}
        </Anchor>
      )}
    </Group>
  );
}
