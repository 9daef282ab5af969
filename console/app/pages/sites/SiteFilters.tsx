/** The search and the filters of the list of sites. */
import { Button, Collapse, Group, Select, SimpleGrid, Stack, Switch, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { labelsQuery } from "../../api/labels.ts";
import { changedFilter, filterFrom, type SiteFilter } from "../../api/siteOverviews.ts";
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
  const showSoon = useDebouncedCallback(
    (text: string) => show(changedFilter(filter, { search: text })),
    typingMilliseconds,
  );
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <TextInput
          key={search === undefined ? "all" : "some"}
          type="search"
          aria-label={texts.sites.search}
          placeholder={texts.sites.search}
          defaultValue={search}
          onChange={(event) => showSoon(event.currentTarget.value)}
          style={{ flex: "1 1 200px" }}
          maw={400}
        />
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
