import { Checkbox, Text, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ActionForm } from "../../parts/ActionForm.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

const at = texts.redirectFile;

/** Imports redirects from CSV, and saves all of them as such a file. */
export function RedirectFile({ environmentId }: { readonly environmentId: string }) {
  const client = useQueryClient();
  const params = { path: { env_id: environmentId } };
  const save = useMutation({
    mutationFn: async () =>
      saveFile(await answerOf(api.GET("/sites/environments/{env_id}/redirect-rules/csv", { params }))),
  });
  const load = useMutation({
    mutationFn: (body: { csv: string; replace: boolean }) =>
      answerOf(api.POST("/sites/environments/{env_id}/redirect-rules/csv", { params, body })),
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { csv: "", replace: false },
    send: (values) => load.mutateAsync(values),
    done: (_, { reset }) => {
      reset();
      void client.invalidateQueries({ queryKey: ["sites", "redirects", environmentId] });
    },
    fields: { csv_unreadable: "csv" },
  });
  return (
    <ActionForm
      title={at.title}
      hint={at.hint}
      verb={at.verb}
      submit={submit}
      isSending={isSending}
      error={error}
      request={{
        method: "POST",
        path: `/sites/environments/${environmentId}/redirect-rules/csv`,
        body: form.values,
      }}
      outcome={
        <>
          {load.data !== undefined && <Text role="status">{at.imported(load.data.imported)}</Text>}
          <Failure error={save.error} />
          <ActionButton
            variant="default"
            style={{ alignSelf: "start" }}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            {at.save}
          </ActionButton>
        </>
      }
    >
      <Textarea
        label={at.csv}
        autosize
        minRows={3}
        maxRows={12}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        {...form.getInputProps("csv")}
      />
      <Checkbox label={at.replace} {...form.getInputProps("replace", { type: "checkbox" })} />
    </ActionForm>
  );
}

function saveFile({ csv }: { readonly csv: string }): void {
  const address = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = at.fileName;
  link.click();
  URL.revokeObjectURL(address);
}
