/** Asks for the password, once, and for a second factor. */
import { PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { usedPasskey } from "../../api/passkeys.ts";
import { type Step, signInWithProvider } from "../../api/providers.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CodeInput } from "../../parts/CodeInput.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

interface ProofFormProps {
  /** For password managers, which look for it in the form. */
  readonly email: string;
  readonly first: Extract<Step, { readonly kind: "factor" | "password" }>;
  readonly done: (step: Step) => void;
}

export function ProofForm({ email, first, done }: ProofFormProps) {
  const needsPassword = first.kind === "password";
  const [needed, setNeeded] = useState(first.kind === "factor" ? first.needed : null);
  const take = (step: Step) => (step.kind === "factor" ? setNeeded(step.needed) : done(step));
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { password: "", code: "" },
    send: ({ password, code }) =>
      signInWithProvider({ ...(needsPassword && { password }), ...(code !== "" && { code }) }),
    done: take,
    fields: { wrong_credentials: "password", wrong_code: "code" },
  });
  const { password } = form.values;
  const passkey = useMutation({
    mutationFn: async (options: Schemas["PasskeyRequest"]) =>
      signInWithProvider({ ...(needsPassword && { password }), passkey: await usedPasskey(options) }),
    onSuccess: take,
  });
  const options = needed?.passkey ?? null;
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Failure error={error ?? passkey.error} />
        {first.kind === "password" && (
          <>
            <Text size="sm">{first.message}</Text>
            <input type="text" autoComplete="username" value={email} readOnly hidden />
            <PasswordInput
              label={texts.provider.linkPassword}
              autoComplete="current-password"
              data-autofocus
              {...form.getInputProps("password")}
            />
          </>
        )}
        {needed !== null && <Text size="sm">{needed.message}</Text>}
        {options !== null && (
          <ActionButton loading={passkey.isPending} onClick={() => passkey.mutate(options)}>
            {texts.passkeys.use}
          </ActionButton>
        )}
        {needed?.hasCode === true && (
          <CodeInput
            label={texts.secondFactor.code}
            description={texts.secondFactor.signInHint}
            {...form.getInputProps("code")}
          />
        )}
        {(needed === null || needed.hasCode) && (
          <ActionButton type="submit" loading={isSending} variant={options === null ? "filled" : "default"}>
            {needsPassword ? texts.provider.linkSubmit : texts.signIn.submit}
          </ActionButton>
        )}
      </Stack>
    </form>
  );
}
