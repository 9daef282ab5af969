import { Table, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { companyDomainsQuery } from "../../api/dns.ts";
import { useSignedIn } from "../../api/session.ts";
import { ButtonLink } from "../../parts/ButtonLink.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { Page } from "../../parts/Page.tsx";
import { texts } from "../../texts.ts";

const at = texts.dns;
/** Rows of a page. A search finds the others. */
const shown = 200;
const typingMilliseconds = 200;

/** The company's domains, which lead to their records. `search`: part of a name, from the address. */
export function DnsPage({ search }: { readonly search: string }) {
  const domains = useQuery(companyDomainsQuery(useSignedIn()?.company.id ?? ""));
  const navigate = useNavigate();
  const showSoon = useDebouncedCallback(
    (text: string) => void navigate({ to: "/dns", search: text === "" ? {} : { search: text }, replace: true }),
    typingMilliseconds,
  );
  return (
    <Page title={at.title}>
      <TextInput
        type="search"
        aria-label={at.search}
        placeholder={at.search}
        defaultValue={search}
        onChange={(event) => showSoon(event.currentTarget.value)}
        maw={400}
      />
      <Loaded query={domains}>
        {(all) => {
          if (all.length === 0) return <EmptyState title={at.empty} hint={at.emptyHint} />;
          const found = all.filter(({ name }) => name.includes(search.toLowerCase()));
          if (found.length === 0) return <EmptyState title={at.noMatch(search)} />;
          return (
            <DataTable label={at.list} columns={[at.domain]} actions={at.manage} minWidth={300}>
              {found.slice(0, shown).map(({ id, name }) => (
                <Table.Tr key={id}>
                  <Table.Td style={{ overflowWrap: "anywhere" }}>{name}</Table.Td>
                  <Table.Td ta="right">
                    <ButtonLink
                      to="/dns/$domainId"
                      params={{ domainId: id }}
                      variant="default"
                      size="compact-sm"
                      aria-label={at.manageNamed(name)}
                    >
                      {at.manage}
                    </ButtonLink>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          );
        }}
      </Loaded>
    </Page>
  );
}
