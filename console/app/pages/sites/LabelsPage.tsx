import { Group, Paper, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createLabel, deleteLabel, type Label, labelsQuery, renameLabel } from "../../api/labels.ts";
import { peopleKey } from "../../api/people.ts";
import { may, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { TextLink } from "../../parts/ButtonLink.tsx";
import { Card } from "../../parts/Card.tsx";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { Page } from "../../parts/Page.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";
import { RenameDialog } from "./RenameDialog.tsx";

const at = texts.labels;

/** The company's labels: created, renamed and deleted here, and added to sites on the page of sites. */
export function LabelsPage() {
  const session = useSignedIn();
  const company = session?.company.id ?? "";
  const labels = useQuery({ ...labelsQuery(company), enabled: session !== null });
  const reason = may(session, "manage_labels") ? null : at.needsAdmin;
  return (
    <Page title={at.title}>
      <Text maw={720}>{at.hint}</Text>
      <NewLabel company={company} reason={reason} />
      <Loaded query={labels}>
        {(found) =>
          found.length === 0 ? (
            <EmptyState title={at.none} hint={at.noneHint} />
          ) : (
            <Paper withBorder component="ul" className="list" aria-label={at.list} maw={720}>
              {found.map((label) => (
                <LabelRow key={label.id} company={company} label={label} reason={reason} />
              ))}
            </Paper>
          )
        }
      </Loaded>
    </Page>
  );
}

interface NewLabelProps {
  readonly company: string;
  /** Why labels can't be changed, or null. */
  readonly reason: string | null;
}

function NewLabel({ company, reason }: NewLabelProps) {
  const client = useQueryClient();
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { name: "" },
    send: ({ name }) => createLabel(company, name),
    done: (_, { reset }) => {
      reset();
      void client.invalidateQueries({ queryKey: ["sites"] });
    },
    fields: { label_name_taken: "name" },
  });
  return (
    <Card title={at.add} maxWidth={720}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput label={at.name} autoComplete="off" {...form.getInputProps("name")} />
          <Group>
            <ActionButton type="submit" loading={isSending} reason={reason}>
              {texts.create}
            </ActionButton>
            <CurlButton method="POST" path={`/company/${company}/labels`} body={{ ...form.values }} />
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

interface LabelRowProps extends NewLabelProps {
  readonly label: Label;
}

function LabelRow({ company, label, reason }: LabelRowProps) {
  const [open, setOpen] = useState<"rename" | "delete" | null>(null);
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteLabel(company, label.id),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["sites"] });
      void client.invalidateQueries({ queryKey: peopleKey });
    },
  });
  const close = () => setOpen(null);
  return (
    <Group component="li" justify="space-between" gap="sm" p="md">
      <Stack gap={2} miw={0} style={{ flex: "1 1 200px" }}>
        <Text fw={600} style={{ overflowWrap: "anywhere" }}>
          {label.name}
        </Text>
        <TextLink to="/sites" search={{ label: label.id }} size="sm">
          {at.sites(label.site_count)}
        </TextLink>
      </Stack>
      <Group gap="xs">
        <ActionButton
          size="compact-sm"
          variant="default"
          reason={reason}
          onClick={() => setOpen("rename")}
          aria-label={at.renameNamed(label.name)}
        >
          {at.rename}
        </ActionButton>
        <ActionButton
          size="compact-sm"
          variant="default"
          reason={reason}
          onClick={() => setOpen("delete")}
          aria-label={at.removeNamed(label.name)}
        >
          {at.remove}
        </ActionButton>
      </Group>
      {open === "rename" && (
        <RenameDialog
          title={at.renameNamed(label.name)}
          label={at.newName}
          name={label.name}
          rename={(name) => renameLabel(company, label.id, name)}
          request={{ method: "PUT", path: `/company/${company}/labels/${label.id}` }}
          close={close}
        />
      )}
      {open === "delete" && (
        <ConfirmDialog
          title={at.removeNamed(label.name)}
          warning={at.removeWarning(label.site_count)}
          name={label.name}
          verb={at.remove}
          mutation={{ ...remove, mutate: () => remove.mutate() }}
          close={close}
          request={{ method: "DELETE", path: `/company/${company}/labels/${label.id}` }}
        />
      )}
    </Group>
  );
}
