import { Checkbox, NumberInput, Text } from "@mantine/core";
import { useState } from "react";
import { answerOf, api } from "../../../api/client.ts";
import { may, useSignedIn } from "../../../api/session.ts";
import type { Settings } from "../../../api/settings.ts";
import { sizeText } from "../../../formats.ts";
import { Notice } from "../../../parts/Notice.tsx";
import { OperationOutcome } from "../../../parts/OperationOutcome.tsx";
import { useApiForm } from "../../../parts/useApiForm.ts";
import { texts } from "../../../texts.ts";
import { SettingForm } from "./SettingForm.tsx";

const at = texts.settings;
const megabyte = 1_000_000;

interface LimitsProps {
  readonly siteId: string;
  readonly environmentId: string;
  readonly limits: Settings["limits"];
}

/** What PHP and the files of an environment may use. */
export function Limits(props: LimitsProps) {
  return (
    <>
      <TimeAndDisk {...props} />
      <PhpThreads {...props} />
    </>
  );
}

function TimeAndDisk({ environmentId, limits: { limits, bounds, use } }: LimitsProps) {
  const [operationId, follow] = useState<string | null>(null);
  const initialValues: { request_seconds: number | string; disk_bytes: number | string } = {
    request_seconds: limits.request_seconds,
    disk_bytes: limits.disk_bytes === null ? "" : limits.disk_bytes / megabyte,
  };
  const bodyOf = (values: typeof initialValues) => ({
    request_seconds: Number(values.request_seconds),
    disk_bytes: values.disk_bytes === "" ? null : Math.round(Number(values.disk_bytes) * megabyte),
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues,
    send: (values) => {
      const params = { path: { env_id: environmentId } };
      return answerOf(api.PUT("/sites/environments/{env_id}/limits", { params, body: bodyOf(values) }));
    },
    done: ({ operation_id: id }) => follow(id),
  });
  const { minimum, maximum } = bounds.request_seconds;
  const mayChangeLimits = may(useSignedIn(), "change_limits");
  return (
    <SettingForm
      title={at.limits}
      reason={mayChangeLimits ? null : texts.needs.changeLimits}
      submit={submit}
      isSending={isSending}
      isSaved={false}
      error={error}
      request={{ method: "PUT", path: `/sites/environments/${environmentId}/limits`, body: bodyOf(form.values) }}
    >
      <NumberInput
        label={at.seconds}
        description={at.range(minimum, maximum)}
        {...form.getInputProps("request_seconds")}
      />
      <NumberInput label={at.disk} description={at.diskHint} {...form.getInputProps("disk_bytes")} />
      <Text size="sm" c="dimmed">
        {use.disk_bytes === null ? at.usedUnknown : at.used(sizeText(use.disk_bytes))}
      </Text>
      {use.is_over_disk_quota && <Notice>{at.overQuota}</Notice>}
      <Outcome operationId={operationId} />
    </SettingForm>
  );
}

function PhpThreads({ siteId, environmentId, limits: { limits, bounds } }: LimitsProps) {
  const [operationId, follow] = useState<string | null>(null);
  const initialValues: { thread_count: number | string; thread_memory: number | string; isEverywhere: boolean } = {
    thread_count: limits.thread_count,
    thread_memory: limits.thread_memory,
    isEverywhere: false,
  };
  const bodyOf = (values: typeof initialValues) => ({
    thread_count: Number(values.thread_count),
    thread_memory: Number(values.thread_memory),
  });
  const pathOf = ({ isEverywhere }: typeof initialValues) =>
    isEverywhere
      ? `/sites/${siteId}/change-site-php-allocation`
      : `/sites/environments/${environmentId}/change-environment-php-allocation`;
  const { form, isSending, error, submit } = useApiForm({
    initialValues,
    send: (values) => {
      const body = bodyOf(values);
      if (values.isEverywhere) {
        const params = { path: { site_id: siteId } };
        return answerOf(api.POST("/sites/{site_id}/change-site-php-allocation", { params, body }));
      }
      const params = { path: { env_id: environmentId } };
      return answerOf(api.POST("/sites/environments/{env_id}/change-environment-php-allocation", { params, body }));
    },
    done: ({ operation_id: id }) => follow(id),
  });
  return (
    <SettingForm
      title={at.php}
      submit={submit}
      isSending={isSending}
      isSaved={false}
      error={error}
      request={{ method: "POST", path: pathOf(form.values), body: bodyOf(form.values) }}
    >
      <NumberInput
        label={at.threads}
        description={at.range(bounds.thread_count.minimum, bounds.thread_count.maximum)}
        {...form.getInputProps("thread_count")}
      />
      <NumberInput
        label={at.memory}
        description={at.range(bounds.thread_memory.minimum, bounds.thread_memory.maximum)}
        {...form.getInputProps("thread_memory")}
      />
      <Checkbox label={texts.allocation.everywhere} {...form.getInputProps("isEverywhere", { type: "checkbox" })} />
      <Outcome operationId={operationId} />
    </SettingForm>
  );
}

function Outcome({ operationId }: { readonly operationId: string | null }) {
  if (operationId === null) return null;
  return (
    <OperationOutcome key={operationId} operationId={operationId}>
      {({ state }) => state === "succeeded" && <Text size="sm">{at.saved}</Text>}
    </OperationOutcome>
  );
}
