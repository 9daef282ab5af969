import { Button, Group, Loader, Stack, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { siteList } from "../api/sites.ts";
import { ButtonLink } from "../parts/ButtonLink.tsx";
import { EmptyState } from "../parts/EmptyState.tsx";
import { Failure } from "../parts/Failure.tsx";
import { Page } from "../parts/Page.tsx";
import { SiteTable } from "../parts/SiteTable.tsx";
import { texts } from "../texts.ts";

const typingMilliseconds = 200;

/** All sites. `search`: part of a name, from the address. */
export function SitesPage({ search }: { readonly search: string }) {
  const sites = useInfiniteQuery(siteList(search));
  const navigate = useNavigate();
  const show = (text: string) => navigate({ to: "/sites", search: text === "" ? {} : { search: text }, replace: true });
  const showSoon = useDebouncedCallback((text: string) => void show(text), typingMilliseconds);
  const rows = sites.data?.pages.flat() ?? [];
  return (
    <Page
      title={texts.sites.title}
      actions={
        <ButtonLink to="/sites/new" variant="filled">
          {texts.sites.create}
        </ButtonLink>
      }
    >
      <TextInput
        key={search === "" ? "all" : "some"}
        type="search"
        aria-label={texts.sites.search}
        placeholder={texts.sites.search}
        defaultValue={search}
        onChange={(event) => showSoon(event.currentTarget.value)}
        maw={400}
      />
      <Failure error={sites.error} retry={() => void sites.refetch()} />
      {sites.isPending && <Loader size="sm" role="status" aria-label={texts.loading} />}
      {sites.isSuccess && rows.length === 0 && <NoSites search={search} showAll={() => void show("")} />}
      {rows.length > 0 && <SiteTable sites={rows} more={sites.hasNextPage ? sites.fetchNextPage : null} />}
    </Page>
  );
}

function NoSites({ search, showAll }: { readonly search: string; readonly showAll: () => void }) {
  if (search !== "") {
    return (
      <EmptyState title={texts.sites.noMatch(search)}>
        <Button variant="default" onClick={showAll}>
          {texts.sites.clearSearch}
        </Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={texts.sites.empty} hint={texts.sites.emptyHint}>
      <Group>
        <Stack>
          <ButtonLink to="/sites/new">{texts.sites.create}</ButtonLink>
        </Stack>
      </Group>
    </EmptyState>
  );
}
