/** Asks what an action on many sites needs to know, and starts it. */
import { Modal, Select, Stack, Switch, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { startBulk } from "../../api/bulk.ts";
import { labelsQuery } from "../../api/labels.ts";
import { presentOverviews, type SiteFilter, type SiteOverview } from "../../api/siteOverviews.ts";
import { phpVersionsQuery } from "../../api/sites.ts";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { Notice } from "../../parts/Notice.tsx";
import { texts } from "../../texts.ts";
import { type BulkChoice, type BulkName, tasksOf } from "./bulkActions.ts";
import type { Selection } from "./selection.ts";

const at = texts.bulk;

interface BulkDialogProps {
  readonly name: BulkName;
  readonly company: string;
  readonly filter: SiteFilter;
  readonly selection: Selection;
  readonly select: (selection: Selection) => void;
  readonly close: () => void;
}

/** Reads the selected sites again first: since they were selected, some may have changed or been deleted. */
export function BulkDialog({ filter, selection, ...rest }: BulkDialogProps) {
  const [ids] = useState(() => [...selection.keys()]);
  const present = useQuery(presentOverviews(rest.company, filter, ids));
  if (present.data !== undefined) {
    return <Choice sites={present.data} goneCount={ids.length - present.data.length} {...rest} />;
  }
  return (
    <Modal
      opened
      onClose={rest.close}
      title={at.title(at.names[rest.name], ids.length)}
      closeButtonProps={{ "aria-label": texts.close }}
    >
      <Loaded query={present}>{() => null}</Loaded>
    </Modal>
  );
}

interface ChoiceProps extends Omit<BulkDialogProps, "filter" | "selection"> {
  readonly sites: readonly SiteOverview[];
  /** Number of selected sites that are not among them. */
  readonly goneCount: number;
}

function Choice({ name, company, sites, goneCount, select, close }: ChoiceProps) {
  const [chosen, setChoice] = useState<BulkChoice>({
    company,
    phpVersion: null,
    label: null,
    plugins: true,
    themes: true,
  });
  const versions = useQuery({ ...phpVersionsQuery(company), enabled: name === "changePhp" });
  const isOffered = versions.data?.some(({ php_version: version }) => version === chosen.phpVersion) === true;
  const choice = isOffered ? chosen : { ...chosen, phpVersion: null };
  const isDeletion = name === "deleteSites";
  const isForSite = isDeletion || name === "addLabel" || name === "removeLabel";
  const start = () => {
    startBulk(at.names[name], tasksOf(name, sites, choice));
    select(new Map(isDeletion ? [] : sites.map((site) => [site.id, site])));
    close();
  };
  return (
    <ConfirmDialog
      title={at.title(at.names[name], sites.length)}
      warning={at.explanations[name]}
      name={isDeletion ? String(sites.length) : null}
      verb={isDeletion ? at.names[name] : at.start(sites.length)}
      reason={sites.length === 0 ? at.noneLeft : missingIn(name, choice)}
      mutation={{ isPending: false, error: null, mutate: start }}
      close={close}
      // A request for each site, and hence many.
      request={null}
    >
      {!isForSite && <Text size="sm">{at.live}</Text>}
      {goneCount > 0 && <Notice>{at.gone(goneCount)}</Notice>}
      {name === "changePhp" && (
        <Loaded query={versions}>
          {(found) => (
            <Select
              label={at.phpVersion}
              data={found.map(({ php_version: version }) => version)}
              value={choice.phpVersion}
              onChange={(phpVersion) => setChoice({ ...chosen, phpVersion })}
            />
          )}
        </Loaded>
      )}
      {(name === "addLabel" || name === "removeLabel") && <LabelField choice={choice} set={setChoice} />}
      {name === "automaticUpdates" && <UpdateFields choice={choice} set={setChoice} />}
    </ConfirmDialog>
  );
}

function missingIn(name: BulkName, { phpVersion, label }: BulkChoice): string | null {
  if (name === "changePhp" && phpVersion === null) return at.chooseFirst;
  return (name === "addLabel" || name === "removeLabel") && label === null ? at.chooseFirst : null;
}

interface FieldsProps {
  readonly choice: BulkChoice;
  readonly set: (choice: BulkChoice) => void;
}

function UpdateFields({ choice, set }: FieldsProps) {
  return (
    <Stack gap="xs">
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
    </Stack>
  );
}

function LabelField({ choice, set }: FieldsProps) {
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
