import { Alert, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { type Invitation, peopleKey } from "../../api/people.ts";
import { dateText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CopyId } from "../../parts/CopyId.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";
import { AccessFields, type AccessValues, accessOf, accessRefusals } from "./AccessFields.tsx";

const at = texts.people;

interface Made {
  readonly invitation: Invitation;
  readonly url: string;
  readonly is_mailed: boolean;
}

interface InviteDialogProps {
  readonly company: string;
  readonly close: () => void;
}

/** Creates an invitation, and shows its link once. A click beside the dialog does not close it: the link would be lost. */
export function InviteDialog({ company, close }: InviteDialogProps) {
  const [made, setMade] = useState<Made | null>(null);
  return (
    <Modal
      opened
      onClose={close}
      title={at.inviteTitle}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": texts.close }}
    >
      {made === null ? (
        <InviteForm company={company} done={setMade} />
      ) : (
        <Stack>
          <Alert role="status" title={at.invited(made.invitation.email)}>
            <Stack gap="xs">
              {made.is_mailed && <Text size="sm">{at.mailed}</Text>}
              <Text size="sm">{at.linkHint(dateText(made.invitation.expires_at))}</Text>
              <CopyId value={made.url} name={at.link} />
            </Stack>
          </Alert>
          <Group>
            <Button onClick={close}>{texts.done}</Button>
            <Button variant="default" onClick={() => setMade(null)}>
              {at.inviteAnother}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

interface InviteFormProps {
  readonly company: string;
  readonly done: (made: Made) => void;
}

interface Values extends AccessValues {
  email: string;
}

const bodyOf = ({ email, ...access }: Values): Schemas["InvitationCreate"] => ({ email, ...accessOf(access) });

function InviteForm({ company, done }: InviteFormProps) {
  const client = useQueryClient();
  const initialValues: Values = {
    email: "",
    role: "developer",
    has_all_sites: true,
    site_ids: [],
    label_ids: [],
  };
  const { form, isSending, error, submit } = useApiForm({
    initialValues,
    send: (values) => {
      const params = { path: { id: company } };
      return answerOf(api.POST("/company/{id}/invitations", { params, body: bodyOf(values) }));
    },
    done: (made) => {
      void client.invalidateQueries({ queryKey: peopleKey });
      done(made);
    },
    fields: { user_exists: "email", ...accessRefusals },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">{at.inviteHint}</Text>
        <Failure error={error} />
        <TextInput
          label={texts.signIn.email}
          type="email"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps("email")}
        />
        <AccessFields company={company} known={[]} values={form.values} set={form.setValues} errors={form.errors} />
        <Group>
          <ActionButton type="submit" loading={isSending}>
            {at.inviteSubmit}
          </ActionButton>
          <CurlButton method="POST" path={`/company/${company}/invitations`} body={{ ...bodyOf(form.values) }} />
        </Group>
      </Stack>
    </form>
  );
}
