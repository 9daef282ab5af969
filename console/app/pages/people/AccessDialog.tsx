import { Group, Modal, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { type Person, peopleKey } from "../../api/people.ts";
import { sessionKey } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";
import { AccessFields, type AccessValues, accessOf, accessRefusals } from "./AccessFields.tsx";

interface AccessDialogProps {
  readonly company: string;
  readonly person: Person;
  readonly close: () => void;
}

/** Changes a person's role and sites. */
export function AccessDialog({ company, person, close }: AccessDialogProps) {
  const { user, sites, labels } = person;
  const client = useQueryClient();
  const known = sites ?? [];
  const initialValues: AccessValues = {
    role: user.role,
    has_all_sites: sites === null,
    site_ids: known.map(({ id }) => id),
    label_ids: labels.map(({ id }) => id),
  };
  const { form, isSending, error, submit } = useApiForm({
    initialValues,
    send: (values) => {
      const params = { path: { id: company, user_id: user.id } };
      return answerOf(api.PUT("/company/{id}/users/{user_id}", { params, body: accessOf(values) }));
    },
    done: () => {
      void client.invalidateQueries({ queryKey: peopleKey });
      void client.invalidateQueries({ queryKey: sessionKey });
      close();
    },
    fields: { last_owner: "role", ...accessRefusals },
  });
  return (
    <Modal
      opened
      onClose={close}
      title={texts.people.accessOf(user.full_name)}
      closeButtonProps={{ "aria-label": texts.close }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <AccessFields
            company={company}
            known={known}
            values={form.values}
            set={form.setValues}
            errors={form.errors}
          />
          <Group>
            <ActionButton type="submit" loading={isSending}>
              {texts.save}
            </ActionButton>
            <CurlButton method="PUT" path={`/company/${company}/users/${user.id}`} body={accessOf(form.values)} />
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
