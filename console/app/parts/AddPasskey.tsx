/** Adds a passkey: a name and the password, and then the browser's own dialog. */
import { PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { addPasskey } from "../api/passkeys.ts";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { Failure } from "./Failure.tsx";
import { useApiForm } from "./useApiForm.ts";

const at = texts.passkeys;

interface AddPasskeyProps {
  /** For password managers, which look for it in the form. */
  readonly email: string;
  /** Gets new recovery codes, or none. */
  readonly done: (recoveryCodes: readonly string[]) => void;
}

export function AddPasskey({ email, done }: AddPasskeyProps) {
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { name: at.defaultName, current_password: "" },
    send: addPasskey,
    done: ({ recovery_codes: codes }) => done(codes),
    fields: { wrong_credentials: "current_password" },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">{at.addHint}</Text>
        <Failure error={error} />
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <TextInput label={at.name} description={at.nameHint} autoComplete="off" {...form.getInputProps("name")} />
        <PasswordInput
          label={texts.password.current}
          autoComplete="current-password"
          {...form.getInputProps("current_password")}
        />
        <ActionButton type="submit" loading={isSending} style={{ alignSelf: "start" }}>
          {at.create}
        </ActionButton>
      </Stack>
    </form>
  );
}
