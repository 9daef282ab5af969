/** The search and the filters of the list of sites. */
import { Button, Collapse, Group, Select, SimpleGrid, Stack, Switch, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { labelsQuery } from "../../api/labels.ts";
import { changedFilter, filterFrom, type SiteFilter } from "../../api/siteOverviews.ts";
import { Failure } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.overview;
const typingMilliseconds = 200;

interface SiteFiltersProps {
  readonly company: string;
  readonly filter: SiteFilter;
  /** Those to choose from, once they are known. */
  readonly versions: VersionsInUse | undefined;
  readonly show: (filter: SiteFilter) => void;
}

interface VersionsInUse {
  readonly wordpress_versions: readonly string[];
  readonly php_versions: readonly string[];
}

export function SiteFilters({ company, filter, versions, show }: SiteFiltersProps) {
  const { search, order, descending, ...others } = filter;
  const active = Object.keys(others).length;
  const [isOpen, { toggle }] = useDisclosure(active > 0);
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <SearchField search={search ?? ""} show={(text) => show(changedFilter(filter, { search: text }))} />
        <Button variant="default" onClick={toggle} aria-expanded={isOpen} aria-controls="site-filters">
          {active === 0 ? at.filters : at.filtersActive(active)}
        </Button>
        {active > 0 && (
          <Button variant="subtle" onClick={() => show(changedFilter({}, { search, order, descending }))}>
            {texts.sites.clearSearch}
          </Button>
        )}
      </Group>
      <Collapse expanded={isOpen} id="site-filters">
        <FilterFields company={company} filter={filter} versions={versions} show={show} />
      </Collapse>
    </Stack>
  );
}

interface SearchFieldProps {
  /** As the address has it. */
  readonly search: string;
  readonly show: (search: string) => void;
}

/** Follows the address, unless this field itself has changed it: more may have been typed since. */
function SearchField({ search, show }: SearchFieldProps) {
  const [text, setText] = useState(search);
  const shown = useRef(search);
  const showSoon = useDebouncedCallback((typed: string) => {
    shown.current = typed;
    show(typed);
  }, typingMilliseconds);
  useEffect(() => {
    if (search === shown.current) return;
    showSoon.cancel();
    setText(search);
    shown.current = search;
  }, [search, showSoon]);
  return (
    <TextInput
      type="search"
      aria-label={texts.sites.search}
      placeholder={texts.sites.search}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        showSoon(event.currentTarget.value);
      }}
      style={{ flex: "1 1 200px" }}
      maw={400}
    />
  );
}

function FilterFields({ company, filter, versions, show }: SiteFiltersProps) {
  const labels = useQuery({ ...labelsQuery(company), enabled: company !== "" });
  const choose = (name: keyof SiteFilter) => (value: string | null) =>
    show(filterFrom({ ...filter, [name]: value ?? undefined }));
  const fields = [
    { name: "label", label: at.label, data: labels.data?.map(({ id, name }) => ({ value: id, label: name })) ?? [] },
    { name: "state", label: at.state, data: choicesOf(at.states) },
    { name: "wordpress", label: at.wordpress, data: valuesOf(versions?.wordpress_versions, filter.wordpress) },
    { name: "php", label: at.php, data: valuesOf(versions?.php_versions, filter.php) },
    { name: "updates", label: at.updates, data: choicesOf(at.updatesChoices) },
    { name: "risk", label: at.risk, data: choicesOf(at.riskChoices) },
    { name: "proven", label: at.proven, data: choicesOf(at.provenChoices) },
  ] as const;
  return (
    <SimpleGrid cols={{ base: 2, sm: 4, lg: 5 }} spacing="sm">
      <Failure error={labels.error} retry={() => void labels.refetch()} />
      {fields.map(({ name, label, data }) => (
        <Select
          key={name}
          label={label}
          placeholder={at.any}
          data={[...data]}
          clearable
          clearButtonProps={{ "aria-label": `${label}: ${at.any}` }}
          value={filter[name] ?? null}
          onChange={choose(name)}
        />
      ))}
      <Select
        label={at.sortBy}
        allowDeselect={false}
        data={choicesOf(orderNames)}
        value={filter.order ?? "name"}
        onChange={choose("order")}
      />
      <Switch
        label={at.descending}
        checked={filter.descending === true}
        onChange={(event) => show(filterFrom({ ...filter, descending: event.currentTarget.checked }))}
        style={{ alignSelf: "end" }}
        pb={8}
      />
    </SimpleGrid>
  );
}

const orderNames = {
  name: at.name,
  created: at.created,
  wordpress: at.wordpress,
  php: at.php,
  updates: at.updates,
  vulnerabilities: at.risk,
  proven: at.proven,
};

const choicesOf = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

/** With the chosen one, even if no site has it any more. */
const valuesOf = (values: readonly string[] = [], chosen?: string): readonly string[] =>
  chosen === undefined || values.includes(chosen) ? values : [...values, chosen];
