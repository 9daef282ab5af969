/** A chart of numbers over time. Times that nobody measured are shaded. */
import {
  Bar,
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceArea,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";

export interface Series {
  readonly key: string;
  readonly label: string;
  readonly color: string;
}

export interface ChartPoint {
  /** Milliseconds since 1970. */
  readonly begins: number;
  /** The same in words. When clocks are put back, an hour's words come twice. */
  readonly time: string;
  /** By key of the series. Null: not measured. */
  readonly values: Readonly<Record<string, number | null>> | null;
}

interface TimeChartProps {
  readonly points: readonly ChartPoint[];
  readonly series: readonly Series[];
  /** Bars are stacked. */
  readonly kind: "bars" | "lines";
  readonly format: (value: number) => string;
  readonly formatAxis: (value: number) => string;
}

const muted = "var(--mantine-color-dimmed)";
const line = "var(--mantine-color-default-border)";
const tick = { fill: muted, fontSize: 12 };
const tooltip = {
  background: "var(--mantine-color-body)",
  color: "var(--mantine-color-text)",
  border: `1px solid ${line}`,
  borderRadius: "var(--mantine-radius-sm)",
};

export function TimeChart({ points, series, kind, format, formatAxis }: TimeChartProps) {
  const data = points.map(({ time, values }) => ({ time, ...values }));
  return (
    <ResponsiveContainer width="100%" height={220} initialDimension={{ width: 320, height: 220 }}>
      <ComposedChart data={data} accessibilityLayer={false} margin={{ top: 8, right: 8, bottom: 0, left: 0 }}>
        <CartesianGrid vertical={false} stroke={line} />
        <XAxis dataKey="time" scale="band" tick={tick} stroke={line} tickLine={false} minTickGap={24} />
        <YAxis
          tick={tick}
          stroke={line}
          tickLine={false}
          width={64}
          tickFormatter={formatAxis}
          allowDecimals={kind === "lines"}
        />
        <Tooltip
          contentStyle={tooltip}
          cursor={{ fill: line, opacity: 0.4 }}
          isAnimationActive={false}
          formatter={(value) => format(Number(value))}
        />
        {gapsIn(points).map(([first, last]) => (
          <ReferenceArea key={first} x1={first} x2={last} fill={muted} fillOpacity={0.18} ifOverflow="visible" />
        ))}
        {series.map(({ key, label, color }) =>
          kind === "bars" ? (
            <Bar key={key} dataKey={key} name={label} stackId="all" fill={color} isAnimationActive={false} />
          ) : (
            <Line
              key={key}
              dataKey={key}
              name={label}
              stroke={color}
              strokeWidth={2}
              dot={{ r: 1.5 }}
              isAnimationActive={false}
            />
          ),
        )}
      </ComposedChart>
    </ResponsiveContainer>
  );
}

/** The first and the last time of each row of points that were not measured. */
function gapsIn(points: readonly ChartPoint[]): readonly (readonly [string, string])[] {
  const gaps: [string, string][] = [];
  for (const [index, { time, values }] of points.entries()) {
    if (values !== null) continue;
    const open = gaps.at(-1);
    if (open !== undefined && points[index - 1]?.values === null) open[1] = time;
    else gaps.push([time, time]);
  }
  return gaps;
}
