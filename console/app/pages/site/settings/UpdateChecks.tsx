import { NumberInput, Textarea } from "@mantine/core";
import { answerOf, api } from "../../../api/client.ts";
import { linesOf } from "../../../api/lines.ts";
import type { Settings } from "../../../api/settings.ts";
import { useApiForm } from "../../../parts/useApiForm.ts";
import { texts } from "../../../texts.ts";
import { SettingForm } from "./SettingForm.tsx";

const at = texts.settings;

interface UpdateChecksProps {
  readonly environmentId: string;
  readonly checks: Settings["checks"];
}

/** Pages that updates are tested with, and how different they may look. */
export function UpdateChecks({ environmentId, checks }: UpdateChecksProps) {
  const initialValues: { update_checks: string; picture_threshold: number | string } = {
    update_checks: checks.update_checks.join("\n"),
    picture_threshold: checks.picture_threshold ?? "",
  };
  const bodyOf = (values: typeof initialValues) => ({
    update_checks: linesOf(values.update_checks),
    picture_threshold: values.picture_threshold === "" ? null : Number(values.picture_threshold),
  });
  const { form, isSending, isDone, error, submit } = useApiForm({
    initialValues,
    send: (values) => {
      const params = { path: { env_id: environmentId } };
      return answerOf(api.PUT("/sites/environments/{env_id}/update-checks", { params, body: bodyOf(values) }));
    },
  });
  return (
    <SettingForm
      title={at.checks}
      submit={submit}
      isSending={isSending}
      isSaved={isDone}
      error={error}
      request={{
        method: "PUT",
        path: `/sites/environments/${environmentId}/update-checks`,
        body: bodyOf(form.values),
      }}
    >
      <Textarea
        label={at.checksLabel}
        description={at.checksHint}
        autosize
        minRows={2}
        maxRows={12}
        {...form.getInputProps("update_checks")}
      />
      <NumberInput
        label={at.pictures}
        description={at.picturesHint}
        suffix=" %"
        {...form.getInputProps("picture_threshold")}
      />
    </SettingForm>
  );
}
