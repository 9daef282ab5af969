/** Adds a second factor in two steps: the password, and then a code of the app that has scanned the secret. */
import { List, PasswordInput, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { answerOf, api } from "../api/client.ts";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { CodeInput } from "./CodeInput.tsx";
import { CopyId } from "./CopyId.tsx";
import { Failure } from "./Failure.tsx";
import { QrCode } from "./QrCode.tsx";
import { useApiForm } from "./useApiForm.ts";

const at = texts.secondFactor;

interface Setup {
  readonly secret: string;
  readonly uri: string;
}

interface AddSecondFactorProps {
  /** For password managers, which look for it in the form. */
  readonly email: string;
  readonly done: (recoveryCodes: readonly string[]) => void;
}

export function AddSecondFactor({ email, done }: AddSecondFactorProps) {
  const [setup, setSetup] = useState<Setup | null>(null);
  return setup === null ? <Begin email={email} done={setSetup} /> : <Confirm setup={setup} done={done} />;
}

function Begin({ email, done }: { readonly email: string; readonly done: (setup: Setup) => void }) {
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { current_password: "" },
    send: (body) => answerOf(api.POST("/session/second-factor", { body })),
    done,
    fields: { wrong_credentials: "current_password" },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Failure error={error} />
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label={texts.password.current}
          autoComplete="current-password"
          {...form.getInputProps("current_password")}
        />
        <ActionButton type="submit" loading={isSending} style={{ alignSelf: "start" }}>
          {at.begin}
        </ActionButton>
      </Stack>
    </form>
  );
}

function Confirm({ setup, done }: { readonly setup: Setup; readonly done: AddSecondFactorProps["done"] }) {
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { code: "" },
    send: (body) => answerOf(api.PUT("/session/second-factor", { body })),
    done: ({ recovery_codes: codes }) => done(codes),
    fields: { wrong_code: "code" },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <List type="ordered" size="sm" spacing="xs">
          <List.Item>{at.scan}</List.Item>
          <List.Item>{at.enter}</List.Item>
        </List>
        <QrCode text={setup.uri} label={at.qrCode} />
        <Text size="sm">{at.secretHint}</Text>
        <CopyId value={setup.secret} name={at.secret} />
        <Failure error={error} />
        <CodeInput label={at.code} inputMode="numeric" {...form.getInputProps("code")} />
        <ActionButton type="submit" loading={isSending} style={{ alignSelf: "start" }}>
          {at.confirm}
        </ActionButton>
      </Stack>
    </form>
  );
}
