/** Role and sites of a person, as fields of a form. */
import { MultiSelect, Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Role, type SiteName, siteNamesQuery } from "../../api/people.ts";
import { may, useSignedIn } from "../../api/session.ts";
import { texts } from "../../texts.ts";

const at = texts.people;

/** What a form gives to a field. */
interface Field<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly error?: ReactNode;
}

const roles = ["owner", "admin", "developer", "billing", "viewer"] as const satisfies readonly Role[];

/** `error`: says why the API refused the role. */
export function RoleField({ value, onChange, error }: Field<Role>) {
  const isOwner = may(useSignedIn(), "manage_owners");
  return (
    <Select
      label={at.role}
      description={at.roleHints[value]}
      data={roles.map((role) => ({ value: role, label: at.roles[role], disabled: role === "owner" && !isOwner }))}
      allowDeselect={false}
      value={value}
      onChange={(chosen) => onChange(roles.find((role) => role === chosen) ?? value)}
      error={error}
    />
  );
}

const typingMilliseconds = 200;

/** `known`: names of the sites that are chosen at first. */
export function SitesField({
  value,
  onChange,
  error,
  known,
}: Field<readonly string[]> & { readonly known: readonly SiteName[] }) {
  const [search, setSearch] = useState("");
  const [asked] = useDebouncedValue(search, typingMilliseconds);
  const [chosen, choose] = useState(known);
  const found = useQuery(siteNamesQuery(asked.trim()));
  const names = new Map([...chosen, ...(found.data ?? [])].map((site) => [site.id, site]));
  return (
    <MultiSelect
      label={at.sites}
      description={at.sitesHint}
      placeholder={value.length === 0 ? at.sitesPlaceholder : ""}
      data={[...names.values()].map(({ id, display_name: label }) => ({ value: id, label }))}
      // The API has searched already.
      filter={({ options }) => options}
      hidePickedOptions
      searchable
      searchValue={search}
      onSearchChange={setSearch}
      nothingFoundMessage={at.noSuchSite}
      value={[...value]}
      onChange={(ids) => {
        choose(ids.flatMap((id) => names.get(id) ?? []));
        onChange(ids);
      }}
      error={error ?? found.error?.message}
    />
  );
}
