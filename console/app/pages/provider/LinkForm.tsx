/** Links the account with which the person has signed in at the provider to their user, after asking for the password. */
import { PasswordInput, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { answerOf, api } from "../../api/client.ts";
import { nextAddress, providerAccountsQuery } from "../../api/providers.ts";
import { useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

const at = texts.provider;

/** `email`: of the account at the provider. */
export function LinkForm({ email }: { readonly email: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const session = useSignedIn();
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { current_password: "" },
    send: (body) => answerOf(api.POST("/session/provider-accounts", { body })),
    done: () => {
      void client.invalidateQueries({ queryKey: providerAccountsQuery.queryKey });
      void navigate({ to: nextAddress(), replace: true });
    },
    fields: { wrong_credentials: "current_password" },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">{at.linkThis(email)}</Text>
        <Failure error={error} />
        <input type="text" autoComplete="username" value={session?.user.email ?? ""} readOnly hidden />
        <PasswordInput
          label={texts.password.current}
          autoComplete="current-password"
          data-autofocus
          {...form.getInputProps("current_password")}
        />
        <ActionButton type="submit" loading={isSending}>
          {at.linkConfirm}
        </ActionButton>
      </Stack>
    </form>
  );
}
