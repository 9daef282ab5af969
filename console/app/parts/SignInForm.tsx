import { PasswordInput, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../api/client.ts";
import { ApiFailure } from "../api/failure.ts";
import { type SignedIn, sessionKey } from "../api/session.ts";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { CodeInput } from "./CodeInput.tsx";
import { Failure } from "./Failure.tsx";
import { useApiForm } from "./useApiForm.ts";

/** E-mail address and password, and a code if the API asks for one. Starts a session. */
export function SignInForm({ done }: { readonly done: (signedIn: SignedIn) => void }) {
  const client = useQueryClient();
  const [needsCode, setNeedsCode] = useState(false);
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { email: "", password: "", code: "" },
    send: ({ code, ...body }) => signIn(needsCode ? { ...body, code } : body),
    done: (signedIn) => {
      if (signedIn === null) return setNeedsCode(true);
      client.setQueryData(sessionKey, signedIn);
      done(signedIn);
    },
    fields: { wrong_credentials: "password", wrong_code: "code" },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Failure error={error} />
        <TextInput
          label={texts.signIn.email}
          type="email"
          autoComplete="username"
          data-autofocus
          {...form.getInputProps("email")}
        />
        <PasswordInput
          label={texts.signIn.password}
          autoComplete="current-password"
          {...form.getInputProps("password")}
        />
        {needsCode && (
          <CodeInput
            label={texts.secondFactor.code}
            description={texts.secondFactor.signInHint}
            {...form.getInputProps("code")}
          />
        )}
        <ActionButton type="submit" loading={isSending}>
          {texts.signIn.submit}
        </ActionButton>
      </Stack>
    </form>
  );
}

/** Null: the password is right, and a code is needed. */
async function signIn(body: Schemas["SignIn"]): Promise<SignedIn | null> {
  try {
    return await answerOf(api.POST("/sessions", { body }));
  } catch (error) {
    if (error instanceof ApiFailure && error.code === "second_factor_needed") return null;
    throw error;
  }
}
