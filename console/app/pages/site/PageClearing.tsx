import { Checkbox, Group, Stack, TextInput } from "@mantine/core";
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

const at = texts.tools;

/** Clears one page from the cache, or all below it. */
export function PageClearing({ environmentId }: { readonly environmentId: string }) {
  const [operationId, follow] = useState<string | null>(null);
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  const bodyOf = ({ url, isSubtree }: { url: string; isSubtree: boolean }) => ({
    environment_id: environmentId,
    url,
    ...(isSubtree && { clear_subdirectories: true }),
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { url: "/", isSubtree: false },
    send: (values) => answerOf(api.POST("/sites/edge-caching/clear", { body: bodyOf(values) })),
    done: ({ operation_id: id }) => follow(id),
  });
  return (
    <Card title={at.page} maxWidth={720}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput label={at.path} description={at.pathHint} autoComplete="off" {...form.getInputProps("url")} />
          <Checkbox label={at.below} {...form.getInputProps("isSubtree", { type: "checkbox" })} />
          <Group>
            <ActionButton type="submit" variant="default" reason={reason} loading={isSending}>
              {at.clear}
            </ActionButton>
            <CurlButton method="POST" path="/sites/edge-caching/clear" body={bodyOf(form.values)} />
          </Group>
        </Stack>
      </form>
      {operationId !== null && (
        <OperationOutcome key={operationId} operationId={operationId}>
          {({ state }) => state === "succeeded" && at.cleared}
        </OperationOutcome>
      )}
    </Card>
  );
}
