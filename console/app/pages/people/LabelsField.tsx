import { MultiSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { labelsQuery } from "../../api/labels.ts";
import { texts } from "../../texts.ts";

interface LabelsFieldProps {
  readonly company: string;
  readonly value: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
  readonly error?: ReactNode;
}

/** Labels whose sites a person sees. Nothing if the company has no labels. */
export function LabelsField({ company, value, onChange, error }: LabelsFieldProps) {
  const labels = useQuery(labelsQuery(company));
  if (labels.data === undefined || (labels.data.length === 0 && value.length === 0)) return null;
  return (
    <MultiSelect
      label={texts.labels.field}
      description={texts.labels.fieldHint}
      data={labels.data.map(({ id, name }) => ({ value: id, label: name }))}
      searchable
      hidePickedOptions
      value={[...value]}
      onChange={onChange}
      error={error}
    />
  );
}
