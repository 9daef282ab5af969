import { Group, Modal, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ComponentProps } from "react";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

interface RenameDialogProps {
  readonly title: string;
  /** Of the field. */
  readonly label: string;
  /** The present name. */
  readonly name: string;
  readonly rename: (name: string) => Promise<unknown>;
  readonly request: Omit<ComponentProps<typeof CurlButton>, "body">;
  readonly close: () => void;
}

/** Renames something that is shown with sites. */
export function RenameDialog({ title, label, name, rename, request, close }: RenameDialogProps) {
  const client = useQueryClient();
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { name },
    send: (values) => rename(values.name),
    done: () => {
      void client.invalidateQueries({ queryKey: ["sites"] });
      close();
    },
    fields: { label_name_taken: "name" },
  });
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ "aria-label": texts.close }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          <TextInput label={label} autoComplete="off" data-autofocus {...form.getInputProps("name")} />
          <Group>
            <ActionButton type="submit" loading={isSending}>
              {texts.save}
            </ActionButton>
            <CurlButton {...request} body={{ ...form.values }} />
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
