/** One figure over time: its sum, how it was measured, and a chart that can be read as a table. */
import { Button, ColorSwatch, Group, Stack, Table, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Card } from "../../../parts/Card.tsx";
import { DataTable } from "../../../parts/DataTable.tsx";
import { texts } from "../../../texts.ts";
import { type ChartPoint, type Series, TimeChart } from "./TimeChart.tsx";

const at = texts.analytics;

interface FigureProps {
  readonly title: string;
  /** How it was measured. */
  readonly method: string;
  readonly series: readonly Series[];
  /** The whole period, by key of the series. Absent: it can't be summed up. */
  readonly totals: Readonly<Record<string, number | null>>;
  readonly points: readonly ChartPoint[];
  readonly kind: "bars" | "lines";
  readonly format: (value: number) => string;
  /** Short texts for the axis. */
  readonly formatAxis: (value: number) => string;
  readonly children?: ReactNode;
}

export function Figure({ title, method, totals, children, ...chart }: FigureProps) {
  const [isTable, setTable] = useState(false);
  return (
    <Card title={title}>
      <Group gap="lg">
        {chart.series.map(({ key, label, color }) => (
          <Stack key={key} gap={0}>
            <Group gap={6}>
              <ColorSwatch color={color} size={10} withShadow={false} />
              <Text size="sm" c="dimmed">
                {label}
              </Text>
            </Group>
            <Text fw={600}>{textOf(totals[key], chart.format, "–")}</Text>
          </Stack>
        ))}
      </Group>
      {isTable ? (
        <StepTable title={title} {...chart} />
      ) : (
        <div role="img" aria-label={at.picture(title)}>
          <TimeChart {...chart} />
        </div>
      )}
      {children}
      <Text size="sm" c="dimmed">
        {method}
      </Text>
      <Button
        variant="default"
        size="compact-sm"
        style={{ alignSelf: "start" }}
        aria-label={isTable ? at.chartNamed(title) : at.tableNamed(title)}
        onClick={() => setTable(!isTable)}
      >
        {isTable ? at.chart : at.table}
      </Button>
    </Card>
  );
}

function StepTable({ title, series, points, format }: Pick<FigureProps, "title" | "series" | "points" | "format">) {
  return (
    <DataTable label={title} columns={[at.time, ...series.map(({ label }) => label)]} minWidth={320} maxHeight={260}>
      {points.map(({ time, begins, values }) => (
        <Table.Tr key={begins}>
          <Table.Td>{time}</Table.Td>
          {series.map(({ key }) => (
            <Table.Td key={key}>{values === null ? at.gap : textOf(values[key], format, "–")}</Table.Td>
          ))}
        </Table.Tr>
      ))}
    </DataTable>
  );
}

const textOf = (value: number | null | undefined, format: (value: number) => string, none: string): string =>
  value === null || value === undefined ? none : format(value);
