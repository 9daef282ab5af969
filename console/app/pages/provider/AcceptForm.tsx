/** Accepts an invitation to the verified address of the account at the provider. */
import { NativeSelect, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { type InvitationChoice, type Step, signInWithProvider } from "../../api/providers.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

const at = texts.provider;

interface AcceptFormProps {
  /** For password managers, which look for it in the form. */
  readonly email: string;
  readonly message: string;
  readonly invitations: readonly InvitationChoice[];
  readonly done: (step: Step) => void;
}

export function AcceptForm({ email, message, invitations, done }: AcceptFormProps) {
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { id: invitations[0]?.id ?? "", full_name: "", password: "" },
    send: (invitation) => signInWithProvider({ invitation }),
    done,
    fields: { password_too_weak: "password", invitation_unusable: "id" },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">{message}</Text>
        <Failure error={error} />
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <NativeSelect
          label={at.invitation}
          data={invitations.map(({ id, company, role }) => ({ value: id, label: at.invitedTo(company, role) }))}
          {...form.getInputProps("id")}
        />
        <TextInput
          label={texts.invitation.fullName}
          autoComplete="name"
          data-autofocus
          {...form.getInputProps("full_name")}
        />
        <PasswordInput
          label={at.acceptPassword}
          description={at.acceptHint}
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
