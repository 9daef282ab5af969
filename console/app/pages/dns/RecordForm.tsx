import { Group, NumberInput, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import type { RecordSet } from "../../api/dns.ts";
import { linesOf } from "../../api/lines.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

const at = texts.dns;
const types = [
  "A",
  "AAAA",
  "CNAME",
  "MX",
  "TXT",
  "NS",
  "SRV",
  "CAA",
  "PTR",
  "HTTPS",
  "SVCB",
  "TLSA",
  "SSHFP",
  "NAPTR",
  "DS",
] as const;
const defaultTtl = 3600;

interface RecordFormProps {
  readonly domainId: string;
  readonly domainName: string;
  /** Null: new records. */
  readonly edited: RecordSet | null;
  readonly close: () => void;
}

interface RecordValues extends Record<string, unknown> {
  readonly type: RecordSet["type"];
  readonly name: string;
  readonly ttl: number | string;
  readonly resource_records: string;
}

/** Adds the records of one name and type, or changes them. */
export function RecordForm({ domainId, domainName, edited, close }: RecordFormProps) {
  const [operationId, follow] = useState<string | null>(null);
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  const params = { path: { domain_id: domainId } };
  const initialValues: RecordValues = {
    type: edited?.type ?? "A",
    name: edited?.name ?? domainName,
    ttl: edited?.ttl ?? defaultTtl,
    resource_records: edited?.resource_records.map(({ value }) => value).join("\n") ?? "",
  };
  const additionOf = ({ type, name, ttl, resource_records: lines }: RecordValues) => ({
    type,
    name,
    ttl: Number(ttl),
    resource_records: linesOf(lines).map((value) => ({ value })),
  });
  const changeOf = (before: RecordSet, { ttl, resource_records: lines }: RecordValues) => {
    const [old, wanted] = [before.resource_records.map(({ value }) => value), linesOf(lines)];
    return {
      type: before.type,
      name: before.name,
      ttl: Number(ttl),
      new_resource_records: wanted.filter((value) => !old.includes(value)).map((value) => ({ value })),
      removed_resource_records: old.filter((value) => !wanted.includes(value)).map((value) => ({ value })),
    };
  };
  const bodyOf = (values: RecordValues) => (edited === null ? additionOf(values) : changeOf(edited, values));
  const { form, isSending, error, submit } = useApiForm({
    initialValues,
    send: (values) =>
      edited === null
        ? answerOf(api.POST("/domains/{domain_id}/dns-records", { params, body: additionOf(values) }))
        : answerOf(api.PUT("/domains/{domain_id}/dns-records", { params, body: changeOf(edited, values) })),
    done: ({ operation_id: id }, { reset }) => {
      follow(id);
      if (edited === null) reset();
    },
  });
  return (
    <>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput
            label={at.name}
            description={at.nameHint}
            disabled={edited !== null}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            {...form.getInputProps("name")}
          />
          <Group grow align="start">
            <Select
              label={at.type}
              allowDeselect={false}
              disabled={edited !== null}
              data={[...types]}
              {...form.getInputProps("type")}
            />
            <NumberInput label={at.ttl} {...form.getInputProps("ttl")} />
          </Group>
          <Textarea
            label={at.values}
            description={at.valuesHint}
            autosize
            minRows={1}
            maxRows={12}
            {...form.getInputProps("resource_records")}
          />
          <Group>
            <ActionButton type="submit" reason={reason} loading={isSending}>
              {edited === null ? at.add : at.save}
            </ActionButton>
            {edited !== null && (
              <ActionButton variant="default" onClick={close}>
                {texts.cancel}
              </ActionButton>
            )}
            <CurlButton
              method={edited === null ? "POST" : "PUT"}
              path={`/domains/${domainId}/dns-records`}
              body={bodyOf(form.values)}
            />
          </Group>
        </Stack>
      </form>
      {operationId !== null && (
        <OperationOutcome key={operationId} operationId={operationId}>
          {({ state }) => state === "succeeded" && texts.settings.saved}
        </OperationOutcome>
      )}
    </>
  );
}
