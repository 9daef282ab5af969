/** Dialogs about one API key: the addresses from which it is accepted, and its rotation. */
import { Group, Modal, NumberInput, Stack, Text, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiKey } from "../api/apiKeys.ts";
import { answerOf, api } from "../api/client.ts";
import { linesOf } from "../api/lines.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { CopyId } from "../parts/CopyId.tsx";
import { CurlButton } from "../parts/CurlButton.tsx";
import { Failure } from "../parts/Failure.tsx";
import { useApiForm } from "../parts/useApiForm.ts";
import { texts } from "../texts.ts";

const at = texts.keyChanges;

export interface ApiKeyDialogProps {
  readonly apiKey: ApiKey;
  /** Whether the key has been rotated, and its successor is in force. */
  readonly isReplaced: boolean;
  readonly company: string;
  readonly close: () => void;
}

export function AddressesDialog({ apiKey, company, close }: ApiKeyDialogProps) {
  const client = useQueryClient();
  const bodyOf = ({ allowed_addresses }: { allowed_addresses: string }) => {
    const found = linesOf(allowed_addresses);
    return { allowed_addresses: found.length === 0 ? null : found };
  };
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { allowed_addresses: apiKey.allowed_addresses?.join("\n") ?? "" },
    send: (values) => {
      const params = { path: { id: company, key_id: apiKey.id } };
      return answerOf(api.PUT("/company/{id}/api-keys/{key_id}/allowed-addresses", { params, body: bodyOf(values) }));
    },
    done: () => {
      void client.invalidateQueries({ queryKey: ["api-keys"] });
      close();
    },
    fields: { not_an_address: "allowed_addresses", addresses_too_wide: "allowed_addresses" },
  });
  return (
    <Modal opened onClose={close} title={at.changeNamed(apiKey.name)} closeButtonProps={{ "aria-label": texts.close }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <Textarea
            label={at.addresses}
            description={at.addressesHint}
            autosize
            minRows={3}
            maxRows={12}
            data-autofocus
            {...form.getInputProps("allowed_addresses")}
          />
          <Group>
            <ActionButton type="submit" loading={isSending}>
              {at.save}
            </ActionButton>
            <CurlButton
              method="PUT"
              path={`/company/${company}/api-keys/${apiKey.id}/allowed-addresses`}
              body={bodyOf(form.values)}
            />
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Shows the successor once. */
export function RotationDialog({ apiKey, company, close }: ApiKeyDialogProps) {
  const client = useQueryClient();
  const [token, setToken] = useState<string | null>(null);
  const initialValues: { overlap_hours: number | string } = { overlap_hours: 24 };
  const bodyOf = (values: typeof initialValues) => ({ overlap_hours: Number(values.overlap_hours) });
  const { form, isSending, error, submit } = useApiForm({
    initialValues,
    send: (values) => {
      const params = { path: { id: company, key_id: apiKey.id } };
      return answerOf(api.POST("/company/{id}/api-keys/{key_id}/rotate", { params, body: bodyOf(values) }));
    },
    done: (rotated) => {
      setToken(rotated.token);
      void client.invalidateQueries({ queryKey: ["api-keys"] });
    },
  });
  return (
    <Modal opened onClose={close} title={at.rotateNamed(apiKey.name)} closeButtonProps={{ "aria-label": texts.close }}>
      {token === null ? (
        <form onSubmit={submit} noValidate>
          <Stack>
            <Text size="sm">{at.rotateWarning}</Text>
            <Failure error={error} />
            <NumberInput label={at.overlap} min={0} data-autofocus {...form.getInputProps("overlap_hours")} />
            <Group>
              <ActionButton type="submit" loading={isSending}>
                {at.rotate}
              </ActionButton>
              <CurlButton
                method="POST"
                path={`/company/${company}/api-keys/${apiKey.id}/rotate`}
                body={bodyOf(form.values)}
              />
            </Group>
          </Stack>
        </form>
      ) : (
        <Stack>
          <Text size="sm">{texts.apiKeys.tokenHint}</Text>
          <CopyId value={token} name={texts.apiKeys.token} />
          <ActionButton style={{ alignSelf: "start" }} onClick={close}>
            {at.done}
          </ActionButton>
        </Stack>
      )}
    </Modal>
  );
}
