/** Says what happens before it does. Wants a name typed before something that can't be undone. */
import { Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type ComponentProps, type ReactNode, useState } from "react";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { CurlButton } from "./CurlButton.tsx";
import { Failure } from "./Failure.tsx";

interface ConfirmDialogProps {
  readonly title: string;
  /** A sentence about the data that would be lost. */
  readonly warning: string;
  /** To be typed. Null: nothing, because it can be undone, or little would be lost. */
  readonly name: string | null;
  /** Why it can't be done now. Null: it can. */
  readonly reason?: string | null;
  /** On the button. */
  readonly verb: string;
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null; readonly mutate: () => void };
  readonly close: () => void;
  /** Null: there is not just one. */
  readonly request: ComponentProps<typeof CurlButton> | null;
  /** Choices, above the field for the name. */
  readonly children?: ReactNode;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, warning, name, verb, mutation, close, request, children } = props;
  const [typed, setTyped] = useState("");
  const isConfirmed = name === null || typed.trim() === name.trim();
  const reason = props.reason ?? (isConfirmed ? null : texts.confirm.first(name));
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ "aria-label": texts.close }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === null) mutation.mutate();
        }}
      >
        <Stack>
          <Text size="sm">{warning}</Text>
          {children}
          <Failure error={mutation.error} />
          {name !== null && (
            <TextInput
              label={texts.confirm.type(name)}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          <Group>
            <ActionButton
              type="submit"
              {...(name !== null && { color: "red.9" })}
              loading={mutation.isPending}
              reason={reason}
            >
              {verb}
            </ActionButton>
            {request !== null && <CurlButton {...request} />}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
