import { Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";
import type { TabProps } from "./tabProps.ts";

const at = texts.environments;

/** Adds a copy of the environment to the site. */
export function EnvironmentCopy({ siteId, environment }: TabProps) {
  const [operationId, follow] = useState<string | null>(null);
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  const bodyOf = ({ display_name }: { display_name: string }) => ({
    display_name,
    is_premium: false,
    source_env_id: environment.id,
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { display_name: "" },
    send: (values) => {
      const params = { path: { site_id: siteId } };
      return answerOf(api.POST("/sites/{site_id}/environments/clone", { params, body: bodyOf(values) }));
    },
    done: ({ operation_id: id }, { reset }) => {
      follow(id);
      reset();
    },
  });
  return (
    <Card title={at.copy} maxWidth={720}>
      <Text size="sm">{at.copyHint}</Text>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput
            label={at.name}
            description={at.nameHint}
            autoComplete="off"
            {...form.getInputProps("display_name")}
          />
          <Group>
            <ActionButton type="submit" reason={reason} loading={isSending}>
              {at.copyNow}
            </ActionButton>
            <CurlButton method="POST" path={`/sites/${siteId}/environments/clone`} body={bodyOf(form.values)} />
          </Group>
        </Stack>
      </form>
      {operationId !== null && (
        <OperationOutcome key={operationId} operationId={operationId}>
          {({ state }) => state === "succeeded" && <Text size="sm">{at.copied}</Text>}
        </OperationOutcome>
      )}
    </Card>
  );
}
