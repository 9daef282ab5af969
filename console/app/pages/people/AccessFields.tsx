/** Role and sites of a person, as fields of a form. */
import { Checkbox, MultiSelect, Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Role, type SiteName, siteNamesQuery } from "../../api/people.ts";
import { may, useSignedIn } from "../../api/session.ts";
import { LabelsField } from "../../parts/LabelsField.tsx";
import { texts } from "../../texts.ts";

const at = texts.people;

/** The values of a form about a person's access. */
export interface AccessValues extends Record<string, unknown> {
  role: Role;
  has_all_sites: boolean;
  site_ids: readonly string[];
  label_ids: readonly string[];
}

/** The same as the API wants it. Somebody without all sites, and without any site or label, sees no site. */
export function accessOf({ role, has_all_sites: hasAll, site_ids: sites, label_ids: labels }: AccessValues) {
  if (hasAll) return { role, site_ids: null, label_ids: null };
  if (labels.length === 0) return { role, site_ids: [...sites], label_ids: null };
  return { role, site_ids: sites.length === 0 ? null : [...sites], label_ids: [...labels] };
}

/** Refusals, and the fields that they are about. */
export const accessRefusals = {
  needs_all_sites: "has_all_sites",
  unknown_site: "site_ids",
  unknown_label: "label_ids",
} as const;

interface AccessFieldsProps {
  readonly company: string;
  /** Names of the sites that are chosen at first. */
  readonly known: readonly SiteName[];
  readonly values: AccessValues;
  readonly set: (changes: Partial<AccessValues>) => void;
  readonly errors: Readonly<Record<string, ReactNode>>;
}

export function AccessFields({ company, known, values, set, errors }: AccessFieldsProps) {
  return (
    <>
      <RoleField value={values.role} onChange={(role) => set({ role })} error={errors.role} />
      <Checkbox
        label={at.allSites}
        description={at.allSitesHint}
        checked={values.has_all_sites}
        onChange={({ currentTarget }) => set({ has_all_sites: currentTarget.checked })}
        error={errors.has_all_sites}
      />
      {!values.has_all_sites && (
        <>
          <SitesField
            known={known}
            value={values.site_ids}
            onChange={(ids) => set({ site_ids: ids })}
            error={errors.site_ids}
          />
          <LabelsField
            company={company}
            label={texts.labels.field}
            hint={texts.labels.fieldHint}
            value={values.label_ids}
            onChange={(ids) => set({ label_ids: ids })}
            error={errors.label_ids}
          />
        </>
      )}
    </>
  );
}

/** What a form gives to a field. */
interface Field<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly error?: ReactNode;
}

const roles = ["owner", "admin", "developer", "billing", "viewer"] as const satisfies readonly Role[];

/** `error`: says why the API refused the role. */
function RoleField({ value, onChange, error }: Field<Role>) {
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
function SitesField({
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
