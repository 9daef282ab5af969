/** A framed form with one button, and its request as a curl command. */
import { Group, Stack, Text } from "@mantine/core";
import type { ComponentProps, FormEventHandler, ReactNode } from "react";
import { mayChange, useSignedIn } from "../api/session.ts";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { Card } from "./Card.tsx";
import { CurlButton } from "./CurlButton.tsx";
import { Failure } from "./Failure.tsx";

interface ActionFormProps {
  readonly title: string;
  readonly hint?: string;
  /** On the button. */
  readonly verb: string;
  readonly submit: FormEventHandler<HTMLFormElement>;
  readonly isSending: boolean;
  readonly error: Error | null;
  readonly request: ComponentProps<typeof CurlButton>;
  /** Why it can't be sent now. Null: it can, if the person may change sites. */
  readonly reason?: string | null;
  /** Fields. */
  readonly children?: ReactNode;
  /** What came of it, below the form. */
  readonly outcome?: ReactNode;
}

export function ActionForm(props: ActionFormProps) {
  const { title, hint, verb, submit, isSending, error, request, reason = null, children, outcome } = props;
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  return (
    <Card title={title} maxWidth={720}>
      {hint !== undefined && <Text size="sm">{hint}</Text>}
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error} />
          {children}
          <Group>
            <ActionButton type="submit" variant="default" reason={forbidden ?? reason} loading={isSending}>
              {verb}
            </ActionButton>
            <CurlButton {...request} />
          </Group>
        </Stack>
      </form>
      {outcome}
    </Card>
  );
}
