/** The authenticator app and the passkeys of the person who has signed in, each with a button to remove it. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../api/client.ts";
import { dateText } from "../formats.ts";
import { texts } from "../texts.ts";
import { PasswordDialog } from "./PasswordDialog.tsx";

const at = texts.passkeys;

type Factor = Schemas["SecondFactor"];
type Passkey = Factor["passkeys"][number];

interface FactorListProps {
  readonly factor: Factor;
  readonly changed: () => void;
}

export function FactorList({ factor, changed }: FactorListProps) {
  const { app_since: appSince, passkeys } = factor;
  const hint = hintOf(factor);
  if (appSince === null && passkeys.length === 0) return null;
  return (
    <Stack role="list" aria-label={at.list}>
      {appSince !== null && (
        <Row
          name={at.app}
          facts={at.appSince(dateText(appSince))}
          hint={hint}
          remove={(body) => answerOf(api.DELETE("/session/second-factor/app", { body }))}
          changed={changed}
        />
      )}
      {passkeys.map((passkey) => (
        <Row
          key={passkey.id}
          name={passkey.name}
          facts={factsOf(passkey)}
          hint={hint}
          remove={(body) => {
            const params = { path: { passkey_id: passkey.id } };
            return answerOf(api.DELETE("/session/passkeys/{passkey_id}", { params, body }));
          }}
          changed={changed}
        />
      ))}
    </Stack>
  );
}

interface RowProps {
  readonly name: string;
  readonly facts: string;
  /** What the removal means. */
  readonly hint: string;
  readonly remove: (body: Schemas["PasswordCheck"]) => Promise<unknown>;
  readonly changed: () => void;
}

function Row({ name, facts, hint, remove, changed }: RowProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Group role="listitem" justify="space-between" gap="sm">
      <Stack gap={0}>
        <Text>{name}</Text>
        <Text size="sm" c="dimmed">
          {facts}
        </Text>
      </Stack>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)} aria-label={at.removeNamed(name)}>
        {at.remove}
      </Button>
      {isOpen && (
        <PasswordDialog
          title={at.removeNamed(name)}
          hint={hint}
          close={() => setOpen(false)}
          send={remove}
          done={() => {
            setOpen(false);
            changed();
          }}
        />
      )}
    </Group>
  );
}

function hintOf({ app_since: appSince, passkeys, is_required: isRequired }: Factor): string {
  const isLast = passkeys.length + (appSince === null ? 0 : 1) === 1;
  if (!isLast) return texts.secondFactor.removeHint;
  return isRequired ? texts.secondFactor.removeRequiredHint : texts.secondFactor.removeLastHint;
}

function factsOf({ created_at, last_used_at, is_backed_up, origin }: Passkey): string {
  return [
    at.added(dateText(created_at)),
    last_used_at === null ? at.neverUsed : at.lastUsed(dateText(last_used_at)),
    ...(is_backed_up ? [at.backedUp] : []),
    ...(origin === window.location.origin ? [] : [at.elsewhere(origin)]),
  ].join(", ");
}
