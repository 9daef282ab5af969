import { Alert, Anchor, PasswordInput, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { answerOf, api } from "../api/client.ts";
import { sessionKey } from "../api/session.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { Failure, Loaded } from "../parts/Failure.tsx";
import { Narrow } from "../parts/Narrow.tsx";
import { useApiForm } from "../parts/useApiForm.ts";
import { texts } from "../texts.ts";

const at = texts.passwordReset;

/** Lets somebody choose a password with the link whose secret is behind the `#` of the address. */
export function PasswordResetPage({ token }: { readonly token: string }) {
  const client = useQueryClient();
  const [isDone, setDone] = useState(false);
  const finish = () => {
    // All sessions have ended, also one in this browser.
    client.setQueryData(sessionKey, null);
    setDone(true);
  };
  const checked = useQuery({
    queryKey: ["password-reset", token],
    queryFn: () => answerOf(api.POST("/password-resets/check", { body: { token } })),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Narrow title={at.title}>
      {isDone && <Alert role="status">{at.saved}</Alert>}
      {!isDone && (
        <Loaded query={checked}>
          {({ password_reset: { email } }) => <ChooseForm token={token} email={email} done={finish} />}
        </Loaded>
      )}
      {!isDone && checked.error !== null && (
        <Anchor component={Link} to="/forgotten-password" size="sm">
          {at.again}
        </Anchor>
      )}
      <Anchor component={Link} to="/sign-in" size="sm">
        {isDone ? texts.signIn.title : texts.signIn.back}
      </Anchor>
    </Narrow>
  );
}

interface ChooseFormProps {
  readonly token: string;
  /** Also for password managers, which look for it in the form. */
  readonly email: string;
  readonly done: () => void;
}

function ChooseForm({ token, email, done }: ChooseFormProps) {
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { new_password: "" },
    send: (values) => answerOf(api.POST("/password-resets/complete", { body: { token, ...values } })),
    done,
    fields: { password_too_weak: "new_password" },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">{at.explain(email)}</Text>
        <Failure error={error} />
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label={at.next}
          autoComplete="new-password"
          data-autofocus
          {...form.getInputProps("new_password")}
        />
        <ActionButton type="submit" loading={isSending}>
          {at.save}
        </ActionButton>
      </Stack>
    </form>
  );
}
