import { Code, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

const at = texts.tools;

/** Runs WP-CLI commands, and shows what they print. */
export function WpCli({ environmentId }: { readonly environmentId: string }) {
  const [operationId, follow] = useState<string | null>(null);
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { wp_command: "wp " },
    send: (body) => {
      const params = { path: { env_id: environmentId } };
      return answerOf(api.POST("/sites/environments/{env_id}/run-wp-cli-command", { params, body }));
    },
    done: ({ operation_id: id }) => follow(id),
  });
  return (
    <Card title={at.wpCli}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput
            label={at.command}
            description={at.commandHint}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            {...form.getInputProps("wp_command")}
          />
          <Group>
            <ActionButton type="submit" reason={reason} loading={isSending}>
              {at.run}
            </ActionButton>
            <CurlButton
              method="POST"
              path={`/sites/environments/${environmentId}/run-wp-cli-command`}
              body={form.values}
            />
          </Group>
        </Stack>
      </form>
      {operationId !== null && (
        <OperationOutcome key={operationId} operationId={operationId}>
          {({ printed }) => printed !== null && <Printed result={printed} />}
        </OperationOutcome>
      )}
    </Card>
  );
}

function Printed({ result }: { readonly result: Schemas["WpCliResult"] }) {
  const { stdout, stderr, exit_code: code } = result;
  return (
    <>
      {stdout === "" && stderr === "" && <Text size="sm">{at.noOutput}</Text>}
      {stdout !== "" && <Lines name={at.output} text={stdout} />}
      {stderr !== "" && <Lines name={at.errors} text={stderr} />}
      {(result.stdout_truncated || result.stderr_truncated) && <Text size="sm">{at.shortened}</Text>}
      {code !== null && (
        <Text size="sm" c="dimmed">
          {at.exitCode(code)}
        </Text>
      )}
    </>
  );
}

function Lines({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <Code block tabIndex={0} role="region" aria-label={name} mah={400} style={{ overflow: "auto" }}>
      {text}
    </Code>
  );
}
