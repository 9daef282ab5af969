import { PasswordInput, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../api/client.ts";
import { type SignedIn, sessionKey } from "../api/session.ts";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { Failure } from "./Failure.tsx";
import { useApiForm } from "./useApiForm.ts";

/** E-mail address and password. Starts a session. */
export function SignInForm({ done }: { readonly done: (signedIn: SignedIn) => void }) {
  const client = useQueryClient();
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { email: "", password: "" },
    send: (body) => answerOf(api.POST("/sessions", { body })),
    done: (signedIn) => {
      client.setQueryData(sessionKey, signedIn);
      done(signedIn);
    },
    fields: { wrong_credentials: "password" },
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
        <ActionButton type="submit" loading={isSending}>
          {texts.signIn.submit}
        </ActionButton>
      </Stack>
    </form>
  );
}
