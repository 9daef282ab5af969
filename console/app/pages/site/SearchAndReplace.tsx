import { Group, Stack, Table, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { useStart } from "../../api/operations.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

const at = texts.tools;
type Replacement = Pick<Schemas["SearchAndReplace"], "search" | "replace" | "perform_replacement">;

/** Replaces a text in the database. The button stays disabled until this replacement has been previewed. */
export function SearchAndReplace({ environmentId }: { readonly environmentId: string }) {
  const [previewed, setPreviewed] = useState<Replacement | null>(null);
  const bodyOf = (values: Replacement) => ({ environment_id: environmentId, ...values });
  const start = useStart((values: Replacement) =>
    answerOf(api.POST("/sites/tools/search-and-replace", { body: bodyOf(values) })),
  );
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { search: "", replace: "" },
    send: (values) => start.mutateAsync(values),
    done: (_, { values }) => setPreviewed(values),
  });
  const { search, replace } = form.values;
  const isPreviewed = previewed?.search === search && previewed.replace === replace;
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const body = bodyOf({ ...form.values, perform_replacement: true });
  return (
    <Card title={at.replace}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error ?? start.error} />
          <TextInput label={at.search} autoComplete="off" {...form.getInputProps("search")} />
          <TextInput label={at.replacement} autoComplete="off" {...form.getInputProps("replace")} />
          <Group>
            <ActionButton type="submit" variant="default" reason={forbidden} loading={isSending}>
              {at.preview}
            </ActionButton>
            <ActionButton
              color="red"
              reason={forbidden ?? (isPreviewed ? null : at.previewFirst)}
              loading={start.isPending}
              onClick={() => start.mutate(body)}
            >
              {at.perform}
            </ActionButton>
            <CurlButton method="POST" path="/sites/tools/search-and-replace" body={body} />
          </Group>
        </Stack>
      </form>
      {start.data !== undefined && (
        <OperationOutcome key={start.data.operation_id} operationId={start.data.operation_id}>
          {({ replaced }) => replaced !== null && <Places result={replaced} />}
        </OperationOutcome>
      )}
    </Card>
  );
}

function Places({ result: { performed, occurrences, places } }: { readonly result: Schemas["ReplacementResult"] }) {
  if (occurrences === 0) return <Text size="sm">{at.nothingFound}</Text>;
  return (
    <>
      <Text size="sm">{performed ? at.replaced : at.found(occurrences)}</Text>
      <DataTable label={at.replace} columns={[at.table, at.column, at.count]}>
        {places.map((place) => (
          <Table.Tr key={`${place.table} ${place.column}`}>
            <Table.Td>{place.table}</Table.Td>
            <Table.Td>{place.column}</Table.Td>
            <Table.Td>{place.occurrences}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </>
  );
}
