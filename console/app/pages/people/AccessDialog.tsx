import { Group, Modal, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { type Person, peopleKey, type Role } from "../../api/people.ts";
import { sessionKey } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";
import { RoleField, SitesField } from "./AccessFields.tsx";
import { LabelsField } from "./LabelsField.tsx";

interface AccessDialogProps {
  readonly company: string;
  readonly person: Person;
  readonly close: () => void;
}

interface Values extends Record<string, unknown> {
  role: Role;
  site_ids: readonly string[];
  label_ids: readonly string[];
}

const bodyOf = ({ role, site_ids: ids, label_ids: labels }: Values): Schemas["UserChange"] => ({
  role,
  site_ids: ids.length === 0 ? null : [...ids],
  label_ids: labels.length === 0 ? null : [...labels],
});

/** Changes a person's role and sites. */
export function AccessDialog({ company, person, close }: AccessDialogProps) {
  const { user, sites, labels } = person;
  const client = useQueryClient();
  const known = sites ?? [];
  const initialValues: Values = {
    role: user.role,
    site_ids: known.map(({ id }) => id),
    label_ids: labels.map(({ id }) => id),
  };
  const { form, isSending, error, submit } = useApiForm({
    initialValues,
    send: (values) => {
      const params = { path: { id: company, user_id: user.id } };
      return answerOf(api.PUT("/company/{id}/users/{user_id}", { params, body: bodyOf(values) }));
    },
    done: () => {
      void client.invalidateQueries({ queryKey: peopleKey });
      void client.invalidateQueries({ queryKey: sessionKey });
      close();
    },
    fields: { last_owner: "role", needs_all_sites: "site_ids", unknown_site: "site_ids", unknown_label: "label_ids" },
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
          <RoleField
            value={form.values.role}
            onChange={(role) => form.setFieldValue("role", role)}
            error={form.errors.role}
          />
          <SitesField
            known={known}
            value={form.values.site_ids}
            onChange={(ids) => form.setFieldValue("site_ids", ids)}
            error={form.errors.site_ids}
          />
          <LabelsField
            company={company}
            value={form.values.label_ids}
            onChange={(ids) => form.setFieldValue("label_ids", ids)}
            error={form.errors.label_ids}
          />
          <Group>
            <ActionButton type="submit" loading={isSending}>
              {texts.save}
            </ActionButton>
            <CurlButton method="PUT" path={`/company/${company}/users/${user.id}`} body={{ ...bodyOf(form.values) }} />
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
