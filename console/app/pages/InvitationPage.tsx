import { PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { answerOf, api } from "../api/client.ts";
import { sessionKey } from "../api/session.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { Failure, Loaded } from "../parts/Failure.tsx";
import { Narrow } from "../parts/Narrow.tsx";
import { useApiForm } from "../parts/useApiForm.ts";
import { texts } from "../texts.ts";

/** Accepts the invitation whose secret is behind the `#` of the address. */
export function InvitationPage({ token }: { readonly token: string }) {
  const checked = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => answerOf(api.POST("/invitations/check", { body: { token } })),
    retry: false,
  });
  return (
    <Narrow title={texts.invitation.title}>
      <Loaded query={checked}>
        {({ invitation: found }) => (
          <Stack>
            <Text>{texts.invitation.explain(found)}</Text>
            <AcceptForm token={token} email={found.email} />
          </Stack>
        )}
      </Loaded>
    </Narrow>
  );
}

/** `email`: for password managers, which look for it in the form. */
function AcceptForm({ token, email }: { readonly token: string; readonly email: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { full_name: "", password: "" },
    send: (values) => answerOf(api.POST("/invitations/accept", { body: { token, ...values } })),
    done: (signedIn) => {
      client.setQueryData(sessionKey, signedIn);
      void navigate({ to: "/" });
    },
    fields: { password_too_weak: "password" },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Failure error={error} />
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <TextInput
          label={texts.invitation.fullName}
          autoComplete="name"
          data-autofocus
          {...form.getInputProps("full_name")}
        />
        <PasswordInput
          label={texts.invitation.password}
          autoComplete="new-password"
          {...form.getInputProps("password")}
        />
        <ActionButton type="submit" loading={isSending}>
          {texts.invitation.submit}
        </ActionButton>
      </Stack>
    </form>
  );
}
