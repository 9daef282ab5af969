import { MultiSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { labelsQuery } from "../api/labels.ts";
import { Loaded } from "./Failure.tsx";

interface LabelsFieldProps {
  readonly company: string;
  readonly label: string;
  readonly hint: string;
  /** Ids. */
  readonly value: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
  readonly error?: ReactNode;
}

/** A choice of labels. Nothing if the company has none. */
export function LabelsField({ company, label, hint, value, onChange, error }: LabelsFieldProps) {
  const labels = useQuery(labelsQuery(company));
  return (
    <Loaded query={labels}>
      {(found) =>
        (found.length > 0 || value.length > 0) && (
          <MultiSelect
            label={label}
            description={hint}
            data={found.map(({ id, name }) => ({ value: id, label: name }))}
            searchable
            hidePickedOptions
            value={[...value]}
            onChange={onChange}
            error={error}
          />
        )
      }
    </Loaded>
  );
}
