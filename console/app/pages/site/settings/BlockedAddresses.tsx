import { Textarea } from "@mantine/core";
import { answerOf, api } from "../../../api/client.ts";
import { linesOf } from "../../../api/lines.ts";
import { useApiForm } from "../../../parts/useApiForm.ts";
import { texts } from "../../../texts.ts";
import { SettingForm } from "./SettingForm.tsx";

const at = texts.settings;

interface BlockedAddressesProps {
  readonly environmentId: string;
  readonly addresses: readonly string[];
}

export function BlockedAddresses({ environmentId, addresses }: BlockedAddressesProps) {
  const bodyOf = (text: string) => ({ environment_id: environmentId, ip_list: linesOf(text) });
  const { form, isSending, isDone, error, submit } = useApiForm({
    initialValues: { ip_list: addresses.join("\n") },
    send: ({ ip_list: text }) => answerOf(api.PUT("/sites/tools/denied-ips", { body: bodyOf(text) })),
  });
  return (
    <SettingForm
      title={at.blocked}
      submit={submit}
      isSending={isSending}
      isSaved={isDone}
      error={error}
      request={{ method: "PUT", path: "/sites/tools/denied-ips", body: bodyOf(form.values.ip_list) }}
    >
      <Textarea
        label={at.blockedLabel}
        description={at.blockedHint}
        autosize
        minRows={2}
        maxRows={12}
        {...form.getInputProps("ip_list")}
      />
    </SettingForm>
  );
}
