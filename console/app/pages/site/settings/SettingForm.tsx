/** The form of a setting: its button saves it and says so. */
import { Group, Stack, Text } from "@mantine/core";
import type { ComponentProps, FormEventHandler, ReactNode } from "react";
import { mayChange, useSignedIn } from "../../../api/session.ts";
import { ActionButton } from "../../../parts/ActionButton.tsx";
import { Card } from "../../../parts/Card.tsx";
import { CurlButton } from "../../../parts/CurlButton.tsx";
import { Failure } from "../../../parts/Failure.tsx";
import { texts } from "../../../texts.ts";

const at = texts.settings;

interface SettingFormProps {
  readonly title: string;
  readonly submit: FormEventHandler<HTMLFormElement>;
  readonly isSending: boolean;
  /** Whether the values have been saved. */
  readonly isSaved: boolean;
  readonly error: Error | null;
  /** Why it can't be saved. Null: it can. Default: by whether the person may change sites. */
  readonly reason?: string | null;
  readonly request: ComponentProps<typeof CurlButton>;
  /** Fields. */
  readonly children: ReactNode;
}

export function SettingForm({
  title,
  submit,
  isSending,
  isSaved,
  error,
  request,
  children,
  ...rest
}: SettingFormProps) {
  const usual = mayChange(useSignedIn()) ? null : texts.needsRole;
  const { reason = usual } = rest;
  return (
    <Card title={title} maxWidth={720}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          {children}
          <Group>
            <ActionButton type="submit" variant="default" reason={reason} loading={isSending}>
              {at.save}
            </ActionButton>
            <CurlButton {...request} />
            {isSaved && <Text role="status">{at.saved}</Text>}
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
