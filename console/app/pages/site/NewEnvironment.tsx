import { Checkbox, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { useSignedIn } from "../../api/session.ts";
import { ActionForm } from "../../parts/ActionForm.tsx";
import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { newWordPress, WordPressFields, wordPressBody, wordPressFaults } from "../../parts/WordPressFields.tsx";
import { texts } from "../../texts.ts";

const at = texts.newEnvironment;

/** Adds an environment with a new WordPress, or without one, to the site. */
export function NewEnvironment({ siteId }: { readonly siteId: string }) {
  const [operationId, follow] = useState<string | null>(null);
  const initialValues = { display_name: "", isPlain: false, ...newWordPress(useSignedIn()) };
  const params = { path: { site_id: siteId } };
  const plainBody = (values: typeof initialValues) => ({ display_name: values.display_name, is_premium: false });
  const bodyOf = (values: typeof initialValues) => ({ ...plainBody(values), ...wordPressBody(values) });
  const { form, isSending, error, submit } = useApiForm({
    initialValues,
    send: (values) =>
      values.isPlain
        ? answerOf(api.POST("/sites/{site_id}/environments/plain", { params, body: plainBody(values) }))
        : answerOf(api.POST("/sites/{site_id}/environments", { params, body: bodyOf(values) })),
    done: ({ operation_id: id }, { reset }) => {
      follow(id);
      reset();
    },
    fields: {
      ...wordPressFaults,
      environment_name_taken: "display_name",
      environment_name_reserved: "display_name",
    },
  });
  const { isPlain } = form.values;
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
        path: `/sites/${siteId}/environments${isPlain ? "/plain" : ""}`,
        body: isPlain ? plainBody(form.values) : bodyOf(form.values),
      }}
      outcome={
        operationId !== null && (
          <OperationOutcome key={operationId} operationId={operationId}>
            {({ state }) => state === "succeeded" && <Text size="sm">{at.created}</Text>}
          </OperationOutcome>
        )
      }
    >
      <TextInput label={at.name} description={at.nameHint} autoComplete="off" {...form.getInputProps("display_name")} />
      <Checkbox label={texts.wordpress.isPlain} {...form.getInputProps("isPlain", { type: "checkbox" })} />
      {!isPlain && (
        <WordPressFields
          inputOf={(name, options) => form.getInputProps(name, options)}
          setPassword={(password) => form.setFieldValue("admin_password", password)}
        />
      )}
    </ActionForm>
  );
}
