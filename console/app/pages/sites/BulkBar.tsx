/** Beneath the list of sites: how many are selected, and what can be done with them. */
import { Button, Group, Menu, Paper, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { may, mayChange, useSignedIn } from "../../api/session.ts";
import { allOverviews, type SiteFilter } from "../../api/siteOverviews.ts";
import { Failure } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";
import { BulkDialog } from "./BulkDialog.tsx";
import { type BulkName, bulkNames } from "./bulkActions.ts";
import type { Selection } from "./selection.ts";

const at = texts.bulk;

interface BulkBarProps {
  readonly company: string;
  readonly filter: SiteFilter;
  /** Number of sites that match the filter. */
  readonly total: number;
  readonly selection: Selection;
  readonly select: (selection: Selection) => void;
}

export function BulkBar({ company, filter, total, selection, select }: BulkBarProps) {
  const [open, setOpen] = useState<BulkName | null>(null);
  const all = useMutation({
    mutationFn: (wanted: SiteFilter) => allOverviews(company, wanted),
    onSuccess: (sites, wanted) => {
      const isShown = JSON.stringify(wanted) === JSON.stringify(filter);
      if (isShown) select(new Map([...selection, ...sites.map((site) => [site.id, site] as const)]));
    },
  });
  if (total === 0 && selection.size === 0) return null;
  return (
    <Paper withBorder shadow="sm" p="sm" component="section" aria-label={at.bar} className="bulk-bar">
      <Failure error={all.error} />
      <Group gap="sm">
        <Text size="sm" role="status">
          {at.selected(selection.size)}
        </Text>
        {total > 0 && (
          <Button size="compact-sm" variant="default" loading={all.isPending} onClick={() => all.mutate(filter)}>
            {at.selectAll(total)}
          </Button>
        )}
        {selection.size > 0 && (
          <>
            <Button size="compact-sm" variant="default" onClick={() => select(new Map())}>
              {at.clear}
            </Button>
            <ActionMenu choose={setOpen} />
          </>
        )}
      </Group>
      {open !== null && (
        <BulkDialog
          name={open}
          company={company}
          filter={filter}
          selection={selection}
          select={select}
          close={() => setOpen(null)}
        />
      )}
    </Paper>
  );
}

function ActionMenu({ choose }: { readonly choose: (name: BulkName) => void }) {
  const session = useSignedIn();
  const reasonFor = (name: BulkName): string | null => {
    if (name === "addLabel" || name === "removeLabel") return may(session, "manage_labels") ? null : at.needsAdmin;
    if (name === "deleteSites") return may(session, "delete_sites") ? null : texts.needs.deleteSites;
    return mayChange(session) ? null : texts.needsRole;
  };
  return (
    <Menu position="top-start" withinPortal>
      <Menu.Target>
        <Button size="compact-sm">{at.actions}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {bulkNames.map((name) => {
          const reason = reasonFor(name);
          return (
            <Menu.Item
              key={name}
              onClick={() => reason === null && choose(name)}
              {...(reason !== null && { "aria-disabled": true, c: "dimmed" })}
            >
              {at.names[name]}
              {reason !== null && (
                <Text size="xs" c="dimmed" maw={260}>
                  {reason}
                </Text>
              )}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}
