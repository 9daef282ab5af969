/** Asks for the password before a change. */
import { Modal, PasswordInput, Stack, Text } from "@mantine/core";
import type { Schemas } from "../api/client.ts";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { Failure } from "./Failure.tsx";
import { useApiForm } from "./useApiForm.ts";

interface PasswordDialogProps<Result> {
  readonly title: string;
  readonly hint: string;
  readonly close: () => void;
  readonly send: (body: Schemas["PasswordCheck"]) => Promise<Result>;
  readonly done: (result: Result) => void;
}

export function PasswordDialog<Result>({ title, hint, close, send, done }: PasswordDialogProps<Result>) {
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { current_password: "" },
    send,
    done,
    fields: { wrong_credentials: "current_password" },
  });
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ "aria-label": texts.close }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Text size="sm">{hint}</Text>
          <Failure error={error} />
          <PasswordInput
            label={texts.password.current}
            autoComplete="current-password"
            data-autofocus
            {...form.getInputProps("current_password")}
          />
          <ActionButton type="submit" loading={isSending} style={{ alignSelf: "start" }}>
            {title}
          </ActionButton>
        </Stack>
      </form>
    </Modal>
  );
}
