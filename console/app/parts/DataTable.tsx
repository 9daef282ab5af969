/** A framed table that scrolls sideways on narrow screens. */
import { Paper, Table, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";

interface DataTableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** Of a last column with buttons, for screen readers. Absent: there is none. */
  readonly actions?: string;
  /** Pixels below which the table scrolls. */
  readonly minWidth?: number;
  /** Pixels above which the rows scroll below the names of the columns. Absent: the table is as high as its rows. */
  readonly maxHeight?: number;
  /** Rows. */
  readonly children: ReactNode;
}

export function DataTable({ label, columns, actions, minWidth = 560, maxHeight, children }: DataTableProps) {
  return (
    <Paper withBorder>
      <Table.ScrollContainer
        minWidth={minWidth}
        {...(maxHeight !== undefined && { maxHeight })}
        // So that it can be scrolled with the keyboard.
        scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "group", "aria-label": label } }}
      >
        <Table aria-label={label} verticalSpacing="sm" horizontalSpacing="md" stickyHeader={maxHeight !== undefined}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
              {actions !== undefined && (
                <Table.Th>
                  <VisuallyHidden>{actions}</VisuallyHidden>
                </Table.Th>
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{children}</Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}
