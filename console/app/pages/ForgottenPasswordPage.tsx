import { Anchor, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { answerOf, api } from "../api/client.ts";
import { signInOptionsQuery } from "../api/passkeys.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { CopyId } from "../parts/CopyId.tsx";
import { Failure, Loaded } from "../parts/Failure.tsx";
import { Narrow } from "../parts/Narrow.tsx";
import { useApiForm } from "../parts/useApiForm.ts";
import { texts } from "../texts.ts";

const at = texts.passwordReset;

/** Has a link mailed, or says who can help. */
export function ForgottenPasswordPage() {
  const found = useQuery(signInOptionsQuery);
  return (
    <Narrow title={at.forgottenTitle}>
      <Loaded query={found}>
        {({ resets_passwords_by_mail: mails }) => (mails ? <AskForLink /> : <AskOperator />)}
      </Loaded>
      <Anchor component={Link} to="/sign-in" size="sm">
        {texts.signIn.back}
      </Anchor>
    </Narrow>
  );
}

function AskOperator() {
  return (
    <Stack>
      <Text size="sm">{at.byOperator}</Text>
      <CopyId value={at.command} name={at.commandName} />
    </Stack>
  );
}

function AskForLink() {
  const [minutes, setMinutes] = useState<number | null>(null);
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { email: "" },
    send: (body) => answerOf(api.POST("/password-resets", { body })),
    done: ({ valid_minutes }) => setMinutes(valid_minutes),
  });
  if (minutes !== null) {
    return (
      <Stack role="status">
        <Text size="sm">{at.sent(form.values.email, minutes)}</Text>
        <Text size="sm" c="dimmed">
          {at.sentHint}
        </Text>
      </Stack>
    );
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">{at.ask}</Text>
        <Failure error={error} />
        <TextInput
          label={texts.signIn.email}
          type="email"
          autoComplete="username"
          data-autofocus
          {...form.getInputProps("email")}
        />
        <ActionButton type="submit" loading={isSending}>
          {at.submit}
        </ActionButton>
      </Stack>
    </form>
  );
}
