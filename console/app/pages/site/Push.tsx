import { Checkbox, Group, Select, Text } from "@mantine/core";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { useStart } from "../../api/operations.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { useReview } from "../../parts/useReview.ts";
import { texts } from "../../texts.ts";
import { Changes } from "./Changes.tsx";
import type { TabProps } from "./tabProps.ts";

const at = texts.environments;

/** Pushes the environment over another one. The button stays disabled until these changes have been reviewed. */
export function Push({ siteId, environment, environments }: TabProps) {
  const others = environments.filter(({ id }) => id !== environment.id);
  const [targetId, setTargetId] = useState(others[0]?.id ?? null);
  const [parts, setParts] = useState({ push_db: true, push_files: true, run_search_and_replace: true });
  const body = { source_env_id: environment.id, target_env_id: targetId ?? "", ...parts };
  const choice = JSON.stringify(body);
  const { isReviewed, began } = useReview(choice);
  const start = useStart((isDry: boolean) => {
    const params = { path: { site_id: siteId } };
    return answerOf(api.PUT("/sites/{site_id}/environments", { params, body: { ...body, dry_run: isDry } }));
  });
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const missing = forbidden ?? (targetId === null ? at.noTarget : null);
  const partOf = (name: keyof typeof parts, label: string) => (
    <Checkbox
      label={label}
      checked={parts[name]}
      onChange={(event) => setParts({ ...parts, [name]: event.currentTarget.checked })}
    />
  );
  return (
    <Card title={at.push} maxWidth={720}>
      <Text size="sm">{others.length === 0 ? at.noTarget : at.pushHint(environment.display_name)}</Text>
      {others.length > 0 && (
        <Select
          label={at.target}
          allowDeselect={false}
          data={others.map(({ id, display_name }) => ({ value: id, label: display_name }))}
          value={targetId}
          onChange={setTargetId}
        />
      )}
      {partOf("push_files", at.files)}
      {partOf("push_db", at.database)}
      {partOf("run_search_and_replace", at.addresses)}
      <Failure error={start.error} />
      <Group>
        <ActionButton
          variant="default"
          reason={missing}
          loading={start.isPending}
          onClick={() => start.mutate(true, { onSuccess: ({ operation_id: id }) => began(choice, id) })}
        >
          {at.compare}
        </ActionButton>
        <ActionButton
          color="red.9"
          reason={missing ?? (isReviewed ? null : at.reviewFirst)}
          loading={start.isPending}
          onClick={() => start.mutate(false)}
        >
          {at.pushNow}
        </ActionButton>
        <CurlButton method="PUT" path={`/sites/${siteId}/environments`} body={body} />
      </Group>
      {start.data !== undefined && (
        <OperationOutcome key={start.data.operation_id} operationId={start.data.operation_id}>
          {({ state, kind, compared }) => (
            <>
              {compared !== null && <Changes changes={compared} words={at} />}
              {state === "succeeded" && kind === "pushEnvironment" && <Text size="sm">{at.pushed}</Text>}
            </>
          )}
        </OperationOutcome>
      )}
    </Card>
  );
}
