/** Asks what an action on many sites needs to know, and starts it. */
import { Group, Modal, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { startBulk } from "../../api/bulk.ts";
import { labelsQuery } from "../../api/labels.ts";
import type { SiteOverview } from "../../api/siteOverviews.ts";
import { phpVersionsQuery } from "../../api/sites.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";
import { type BulkChoice, type BulkName, tasksOf } from "./bulkActions.ts";

const at = texts.bulk;

interface BulkDialogProps {
  readonly name: BulkName;
  readonly company: string;
  readonly sites: readonly SiteOverview[];
  readonly close: () => void;
}

export function BulkDialog({ name, company, sites, close }: BulkDialogProps) {
  const [choice, setChoice] = useState<BulkChoice>({
    company,
    phpVersion: null,
    label: null,
    plugins: true,
    themes: true,
  });
  const [typed, setTyped] = useState("");
  const count = sites.length;
  const isDeletion = name === "deleteSites";
  const reason = missingIn(name, choice) ?? (isDeletion && typed.trim() !== String(count) ? at.typeFirst : null);
  const isForSite = isDeletion || name === "addLabel" || name === "removeLabel";
  return (
    <Modal
      opened
      onClose={close}
      title={at.title(at.names[name], count)}
      closeButtonProps={{ "aria-label": texts.close }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (reason !== null) return;
          startBulk(at.names[name], tasksOf(name, sites, choice));
          close();
        }}
      >
        <Stack>
          <Text size="sm">{at.explanations[name]}</Text>
          {!isForSite && <Text size="sm">{at.live}</Text>}
          <ChoiceFields name={name} choice={choice} set={setChoice} />
          {isDeletion && (
            <TextInput
              label={at.typeNumber(count)}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              inputMode="numeric"
              data-autofocus
            />
          )}
          <Group>
            <ActionButton type="submit" reason={reason} {...(isDeletion && { color: "red.9" })}>
              {isDeletion ? at.names[name] : at.start(count)}
            </ActionButton>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function missingIn(name: BulkName, { phpVersion, label }: BulkChoice): string | null {
  if (name === "changePhp" && phpVersion === null) return at.chooseFirst;
  return (name === "addLabel" || name === "removeLabel") && label === null ? at.chooseFirst : null;
}

interface ChoiceFieldsProps {
  readonly name: BulkName;
  readonly choice: BulkChoice;
  readonly set: (choice: BulkChoice) => void;
}

function ChoiceFields({ name, choice, set }: ChoiceFieldsProps) {
  if (name === "changePhp") return <PhpField choice={choice} set={set} />;
  if (name === "addLabel" || name === "removeLabel") return <LabelField choice={choice} set={set} />;
  if (name !== "automaticUpdates") return null;
  return (
    <>
      <Switch
        label={at.plugins}
        checked={choice.plugins}
        onChange={(event) => set({ ...choice, plugins: event.currentTarget.checked })}
      />
      <Switch
        label={at.themes}
        checked={choice.themes}
        onChange={(event) => set({ ...choice, themes: event.currentTarget.checked })}
      />
    </>
  );
}

function PhpField({ choice, set }: Omit<ChoiceFieldsProps, "name">) {
  return (
    <Loaded query={useQuery(phpVersionsQuery(choice.company))}>
      {(versions) => (
        <Select
          label={at.phpVersion}
          data={versions.map(({ php_version: version }) => version)}
          value={choice.phpVersion}
          onChange={(phpVersion) => set({ ...choice, phpVersion })}
        />
      )}
    </Loaded>
  );
}

function LabelField({ choice, set }: Omit<ChoiceFieldsProps, "name">) {
  return (
    <Loaded query={useQuery(labelsQuery(choice.company))}>
      {(labels) => (
        <Select
          label={at.label}
          data={labels.map(({ id, name }) => ({ value: id, label: name }))}
          searchable
          value={choice.label}
          onChange={(label) => set({ ...choice, label })}
        />
      )}
    </Loaded>
  );
}
