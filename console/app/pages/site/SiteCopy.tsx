import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { answerOf, api } from "../../api/client.ts";
import { may, useSignedIn } from "../../api/session.ts";
import type { Environment } from "../../api/sites.ts";
import { ActionForm } from "../../parts/ActionForm.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

const at = texts.siteCopy;

/** Makes a new site from an environment. Continues on the page of the operation. */
export function SiteCopy({ environment }: { readonly environment: Environment }) {
  const session = useSignedIn();
  const navigate = useNavigate();
  const bodyOf = (values: { display_name: string }) => ({
    company: session?.company.id ?? "",
    source_env_id: environment.id,
    ...values,
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { display_name: "" },
    send: (values) => answerOf(api.POST("/sites/clone", { body: bodyOf(values) })),
    done: ({ operation_id: operationId }) => void navigate({ to: "/operations/$operationId", params: { operationId } }),
    fields: { site_name_taken: "display_name" },
  });
  return (
    <ActionForm
      title={at.title}
      hint={at.hint(environment.display_name)}
      verb={at.verb}
      submit={submit}
      isSending={isSending}
      error={error}
      reason={may(session, "create_sites") ? null : texts.needsRole}
      request={{ method: "POST", path: "/sites/clone", body: bodyOf(form.values) }}
    >
      <TextInput label={at.name} autoComplete="off" {...form.getInputProps("display_name")} />
    </ActionForm>
  );
}
