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
import { useReview } from "../../parts/useReview.ts";
import { texts } from "../../texts.ts";

const at = texts.tools;
type Replacement = Pick<Schemas["SearchAndReplace"], "search" | "replace" | "perform_replacement">;

/** Replaces a text in the database. The button stays disabled until this replacement has been previewed. */
export function SearchAndReplace({ environmentId }: { readonly environmentId: string }) {
  const bodyOf = (values: Replacement) => ({ environment_id: environmentId, ...values });
  const [shown, show] = useState<string | null>(null);
  const start = async (values: Replacement) => {
    const accepted = await answerOf(api.POST("/sites/tools/search-and-replace", { body: bodyOf(values) }));
    show(accepted.operation_id);
    return accepted;
  };
  const perform = useStart(start);
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { search: "", replace: "" },
    send: async (values) => {
      const { operation_id: id } = await start(values);
      began(JSON.stringify(values), id);
    },
  });
  const { isReviewed, began } = useReview(JSON.stringify(form.values));
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const body = bodyOf({ ...form.values, perform_replacement: true });
  return (
    <Card title={at.replace}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error ?? perform.error} />
          <TextInput label={at.search} autoComplete="off" {...form.getInputProps("search")} />
          <TextInput label={at.replacement} autoComplete="off" {...form.getInputProps("replace")} />
          <Group>
            <ActionButton type="submit" variant="default" reason={forbidden} loading={isSending}>
              {at.preview}
            </ActionButton>
            <ActionButton
              color="red.9"
              reason={forbidden ?? (isReviewed ? null : at.previewFirst)}
              loading={perform.isPending}
              onClick={() => perform.mutate(body)}
            >
              {at.perform}
            </ActionButton>
            <CurlButton method="POST" path="/sites/tools/search-and-replace" body={body} />
          </Group>
        </Stack>
      </form>
      {shown !== null && (
        <OperationOutcome key={shown} operationId={shown}>
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
