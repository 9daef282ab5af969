import { Anchor, Badge, Checkbox, Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useStart } from "../../api/operations.ts";
import { type Package, type PackageKind, packagesQuery, updatePackages } from "../../api/packages.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";
import { UpdateOutcome } from "./UpdateOutcome.tsx";

const at = texts.updates;

interface PackageUpdatesProps {
  readonly environmentId: string;
  readonly kind: PackageKind;
}

/** Plugins or themes: one is updated by its own button, several together. */
export function PackageUpdates({ environmentId, kind }: PackageUpdatesProps) {
  const packages = useQuery(packagesQuery(environmentId, kind));
  const [selected, select] = useState<readonly string[]>([]);
  const start = useStart((names: readonly string[]) => updatePackages(environmentId, kind, names));
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const update = (names: readonly string[]) => start.mutate(names, { onSuccess: () => select([]) });
  const toggle = (name: string) =>
    select(selected.includes(name) ? selected.filter((other) => other !== name) : [...selected, name]);
  return (
    <Card title={at[kind]}>
      <Loaded query={packages}>
        {({ items, checks }) =>
          items.length === 0 ? (
            <EmptyState title={at.none[kind]} hint={at.noneHint} />
          ) : (
            <DataTable label={at[kind]} columns={[at.name, at.version, at.state]} actions={at.actions}>
              {items.map((item) => (
                <PackageRow
                  key={item.name}
                  kind={kind}
                  item={item}
                  isSelected={selected.includes(item.name)}
                  toggle={() => toggle(item.name)}
                  update={() => update([item.name])}
                  isChecked={checks.updates.checked_at !== null}
                  reason={forbidden}
                />
              ))}
            </DataTable>
          )
        }
      </Loaded>
      <Failure error={start.error} />
      {packages.data?.items.some(({ update_version: newer }) => newer !== null) === true && (
        <Group>
          <ActionButton
            reason={forbidden ?? (selected.length === 0 ? at.selectFirst : null)}
            loading={start.isPending}
            onClick={() => update(selected)}
          >
            {at.updateSelected(selected.length)}
          </ActionButton>
          <CurlButton
            method="PUT"
            path={`/sites/environments/${environmentId}/${kind}/bulk-update`}
            body={{ [kind]: selected.map((name) => ({ name })) }}
          />
        </Group>
      )}
      {start.data !== undefined && <UpdateOutcome operationId={start.data.operation_id} />}
    </Card>
  );
}

/** Updates come from WordPress.org or its mirror: those from elsewhere are refused. */
const notesOf = (kind: PackageKind, name: string): string =>
  `https://wordpress.org/${kind}/${encodeURIComponent(name)}/${kind === "plugins" ? "#developers" : ""}`;

interface PackageRowProps {
  readonly kind: PackageKind;
  readonly item: Package;
  readonly isSelected: boolean;
  readonly toggle: () => void;
  readonly update: () => void;
  /** Whether updates are known. */
  readonly isChecked: boolean;
  readonly reason: string | null;
}

function PackageRow({ kind, item, isSelected, toggle, update, isChecked, reason }: PackageRowProps) {
  const { title, version, update_version: newer } = item;
  return (
    <Table.Tr>
      <Table.Td>
        {newer === null ? (
          title
        ) : (
          <Checkbox label={title} aria-label={at.select(title)} checked={isSelected} onChange={toggle} />
        )}
      </Table.Td>
      <Table.Td>{version}</Table.Td>
      <Table.Td>
        <Group gap="xs">
          <Badge variant="light" color={item.status === "active" ? "green" : "gray"}>
            {at[item.status]}
          </Badge>
          {item.is_version_vulnerable && <Badge color="red">{at.vulnerable}</Badge>}
          {item.update_status === "failed" && (
            <Badge color="yellow" variant="light">
              {at.failed}
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td ta="right">
        {newer === null ? (
          <Text size="sm" c="dimmed">
            {isChecked ? at.newest : at.notChecked}
          </Text>
        ) : (
          <ActionButton
            size="compact-sm"
            variant="default"
            reason={reason}
            aria-label={at.updateNamed(title, newer)}
            onClick={update}
          >
            {at.update(newer)}
          </ActionButton>
        )}
        {newer !== null && (
          <Anchor
            href={notesOf(kind, item.name)}
            target="_blank"
            rel="noreferrer"
            size="xs"
            display="block"
            aria-label={texts.pictures.notesNamed(title, newer)}
          >
            {texts.pictures.releaseNotes(newer)}
          </Anchor>
        )}
        {newer !== null && item.is_update_version_vulnerable && (
          <Text size="xs" c="red">
            {at.vulnerableUpdate(newer)}
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
