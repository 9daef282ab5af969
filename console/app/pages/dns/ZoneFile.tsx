import { Checkbox, Code, Group, List, Stack, Text, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
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

const at = texts.dns;

/** Imports the zone file of another provider, and exports the zone. */
export function ZoneFile({ domainId }: { readonly domainId: string }) {
  const [operationId, follow] = useState<string | null>(null);
  const [isExported, showExport] = useState(false);
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  const params = { path: { domain_id: domainId } };
  const exported = useQuery({
    queryKey: ["sites", "zone-file", domainId],
    queryFn: async ({ signal }) =>
      (await answerOf(api.GET("/domains/{domain_id}/zone-file", { params, signal }))).domain.zone_file,
    enabled: isExported,
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { zone_file: "", replace: false },
    send: (body) => answerOf(api.POST("/domains/{domain_id}/zone-file", { params, body })),
    done: ({ operation_id: id }) => follow(id),
  });
  return (
    <Card title={at.file} maxWidth={720}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <Textarea
            label={at.fileLabel}
            description={at.fileHint}
            autosize
            minRows={3}
            maxRows={16}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            {...form.getInputProps("zone_file")}
          />
          <Checkbox label={at.replaceAll} {...form.getInputProps("replace", { type: "checkbox" })} />
          <Group>
            <ActionButton type="submit" reason={reason} loading={isSending}>
              {at.importNow}
            </ActionButton>
            <ActionButton variant="default" loading={exported.isFetching} onClick={() => showExport(true)}>
              {at.exportNow}
            </ActionButton>
            <CurlButton method="POST" path={`/domains/${domainId}/zone-file`} body={form.values} />
          </Group>
        </Stack>
      </form>
      {operationId !== null && (
        <OperationOutcome key={operationId} operationId={operationId}>
          {({ imported }) => imported !== null && <Imported result={imported} />}
        </OperationOutcome>
      )}
      <Failure error={exported.error} retry={() => void exported.refetch()} />
      {exported.data !== undefined && (
        <Code block tabIndex={0} role="region" aria-label={at.exported} mah={400} style={{ overflow: "auto" }}>
          {exported.data}
        </Code>
      )}
    </Card>
  );
}

function Imported({ result }: { readonly result: Schemas["ZoneImportResult"] }) {
  const hidden = result.skipped_lines_count - result.skipped_lines.length;
  return (
    <>
      <Text size="sm">{at.imported(result.changed_record_sets, result.skipped_lines_count)}</Text>
      <List size="sm">
        {result.skipped_lines.map(({ line, text, reason }) => (
          <List.Item key={line}>
            {at.skipped(line, reason)} <Code>{text}</Code>
          </List.Item>
        ))}
      </List>
      {hidden > 0 && <Text size="sm">{texts.home.hidden(hidden)}</Text>}
    </>
  );
}
