import { Button, Group, Loader, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useSignedIn } from "../../api/session.ts";
import { overviewPage, type SiteFilter, type SiteOverview } from "../../api/siteOverviews.ts";
import { ButtonLink } from "../../parts/ButtonLink.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Page } from "../../parts/Page.tsx";
import { texts } from "../../texts.ts";
import { BulkBar } from "./BulkBar.tsx";
import { SiteFilters } from "./SiteFilters.tsx";
import { SiteTable } from "./SiteTable.tsx";
import type { Selection } from "./selection.ts";

/** All sites that match the filter, which is in the address. */
export function SitesPage({ filter }: { readonly filter: SiteFilter }) {
  const session = useSignedIn();
  const company = session?.company.id ?? "";
  const first = useQuery({
    ...overviewPage(company, filter, 0),
    enabled: session !== null,
    placeholderData: keepPreviousData,
  });
  const navigate = useNavigate();
  const show = (next: SiteFilter) => void navigate({ to: "/sites", search: next, replace: true });
  const [selection, select] = useSelection(filter);
  const total = first.data?.total ?? 0;
  return (
    <Page
      title={texts.sites.title}
      actions={
        <>
          <ButtonLink to="/labels" variant="default">
            {texts.overview.labels}
          </ButtonLink>
          <ButtonLink to="/deleted-sites" variant="default">
            {texts.deletedSites.link}
          </ButtonLink>
          <ButtonLink to="/sites/new" variant="filled">
            {texts.sites.create}
          </ButtonLink>
        </>
      }
    >
      <SiteFilters company={company} filter={filter} versions={first.data} show={show} />
      <Failure error={first.error} retry={() => void first.refetch()} />
      {first.isPending && <Loader size="sm" role="status" aria-label={texts.loading} />}
      {first.isSuccess && total === 0 && <NoSites filter={filter} showAll={() => show({})} />}
      {total > 0 && (
        <>
          <Text size="sm" role="status">
            {texts.overview.matches(total)}
          </Text>
          <SiteTable
            company={company}
            filter={filter}
            total={total}
            show={show}
            selection={selection}
            toggle={(site) => select(toggled(selection, site))}
          />
        </>
      )}
      <BulkBar company={company} filter={filter} total={total} selection={selection} select={select} />
    </Page>
  );
}

/** Belongs to a filter: nothing that the list no longer shows stays selected. Another order changes nothing. */
function useSelection({ order, descending, ...filter }: SiteFilter) {
  const key = JSON.stringify(filter);
  const [made, make] = useState<{ readonly key: string; readonly selection: Selection }>({ key, selection: new Map() });
  const isCurrent = made.key === key;
  // Otherwise, sites would be selected again as soon as their filter is back.
  if (!isCurrent) make({ key, selection: new Map() });
  const selection: Selection = isCurrent ? made.selection : new Map();
  return [selection, (next: Selection) => make({ key, selection: next })] as const;
}

function toggled(selection: Selection, site: SiteOverview): Selection {
  const next = new Map(selection);
  if (!next.delete(site.id)) next.set(site.id, site);
  return next;
}

function NoSites({ filter, showAll }: { readonly filter: SiteFilter; readonly showAll: () => void }) {
  const { order, descending, ...filters } = filter;
  const names = Object.keys(filters);
  if (names.length > 0) {
    const { search = "" } = filters;
    return (
      <EmptyState title={names.length === 1 && search !== "" ? texts.sites.noMatch(search) : texts.overview.noMatch}>
        <Button variant="default" onClick={showAll}>
          {texts.sites.clearSearch}
        </Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={texts.sites.empty} hint={texts.sites.emptyHint}>
      <Group>
        <ButtonLink to="/sites/new">{texts.sites.create}</ButtonLink>
      </Group>
    </EmptyState>
  );
}
