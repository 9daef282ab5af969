/** Each figure of an environment: which numbers it shows, and how. */
import { Text } from "@mantine/core";
import type { Analytics, AnalyticsRange, AnalyticsStep } from "../../../api/analytics.ts";
import type { Schemas } from "../../../api/client.ts";
import { sizeText } from "../../../formats.ts";
import { compactText, numberText } from "../../../numberFormats.ts";
import { texts } from "../../../texts.ts";
import { secondsText, stepText, timeText } from "./analyticsFormats.ts";
import { Figure } from "./Figure.tsx";
import type { ChartPoint, Series } from "./TimeChart.tsx";

const at = texts.analytics;

type Figures = Schemas["AnalyticsFigures"];
type Values = Readonly<Record<string, number | null>>;

interface FiguresProps {
  readonly analytics: Analytics;
  readonly range: AnalyticsRange;
}

const color = (name: string) => `var(--mantine-color-${name})`;
const series = (key: string, label: string, colorName: string): Series => ({ key, label, color: color(colorName) });
const counts = { kind: "bars", format: numberText, formatAxis: compactText } as const;

/** Returns the points with these values, or without if they were not measured. */
const pointsOf = ({ analytics, range }: FiguresProps, valuesOf: (figures: Figures) => Values): readonly ChartPoint[] =>
  analytics.steps.map(({ begins_at: begins, figures }) => ({
    begins,
    time: stepText(range, begins),
    values: figures === null ? null : valuesOf(figures),
  }));

/** The totals and the points. */
const numbersOf = (props: FiguresProps, valuesOf: (figures: Figures) => Values) => ({
  totals: valuesOf(props.analytics.total),
  points: pointsOf(props, valuesOf),
});

export function TrafficFigures(props: FiguresProps) {
  return (
    <>
      <Figure
        title={at.visits.title}
        method={at.visits.method}
        series={[series("visits", at.visits.visits, "indigo-5")]}
        {...numbersOf(props, ({ visits }) => ({ visits }))}
        {...counts}
      />
      <Requests {...props} />
      <Figure
        title={at.bandwidth.title}
        method={at.bandwidth.method}
        series={[series("bytes", at.bandwidth.bytes, "indigo-5")]}
        {...numbersOf(props, ({ bytes_sent: bytes }) => ({ bytes }))}
        kind="bars"
        format={sizeText}
        formatAxis={sizeText}
      />
      <Codes {...props} />
      <Times {...props} />
      <Php {...props} />
    </>
  );
}

function Requests(props: FiguresProps) {
  const text = at.requests;
  return (
    <Figure
      title={text.title}
      method={text.method}
      series={[
        series("hits", text.hits, "teal-5"),
        series("misses", text.misses, "indigo-5"),
        series("bypasses", text.bypasses, "orange-5"),
        series("others", text.others, "gray-5"),
      ]}
      {...numbersOf(props, ({ cache }) => ({ ...cache }))}
      {...counts}
    >
      <Text size="sm">{text.bots(numberText(props.analytics.total.bot_requests))}</Text>
    </Figure>
  );
}

function Codes(props: FiguresProps) {
  const { errors } = props.analytics.total;
  const list = errors.map(({ status, requests }) => at.codes.error(status, numberText(requests))).join(", ");
  return (
    <Figure
      title={at.codes.title}
      method={at.codes.method}
      series={[
        series("2xx", "2xx", "teal-5"),
        series("3xx", "3xx", "indigo-5"),
        series("4xx", "4xx", "orange-5"),
        series("5xx", "5xx", "red-6"),
      ]}
      {...numbersOf(props, ({ codes }) => ({ ...codes }))}
      {...counts}
    >
      {errors.length > 0 && <Text size="sm">{at.codes.errors(list)}</Text>}
    </Figure>
  );
}

function Times(props: FiguresProps) {
  const text = at.times;
  return (
    <Figure
      title={text.title}
      method={text.method}
      series={[
        series("cachedP50", text.cachedP50, "teal-4"),
        series("cachedP95", text.cachedP95, "teal-7"),
        series("phpP50", text.phpP50, "orange-4"),
        series("phpP95", text.phpP95, "orange-8"),
      ]}
      {...numbersOf(props, ({ response_times: { cached, php } }) => ({
        cachedP50: cached?.p50 ?? null,
        cachedP95: cached?.p95 ?? null,
        phpP50: php?.p50 ?? null,
        phpP95: php?.p95 ?? null,
      }))}
      kind="lines"
      format={timeText}
      formatAxis={timeText}
    />
  );
}

function Php(props: FiguresProps) {
  return (
    <Figure
      title={at.php.title}
      method={at.php.method}
      series={[series("duration", at.php.duration, "indigo-5"), series("processor", at.php.processor, "orange-5")]}
      {...numbersOf(props, ({ php_seconds: duration, cpu_seconds: processor }) => ({ duration, processor }))}
      kind="lines"
      format={secondsText}
      formatAxis={secondsText}
    />
  );
}

export function DiskFigure({ analytics, range }: FiguresProps) {
  const valuesOf = ({ disk_bytes: bytes }: Pick<AnalyticsStep, "disk_bytes">) => (bytes === null ? null : { bytes });
  const last = analytics.steps.findLast(({ disk_bytes: bytes }) => bytes !== null);
  return (
    <Figure
      title={at.disk.title}
      method={at.disk.method}
      series={[series("bytes", at.disk.bytes, "indigo-5")]}
      totals={{ bytes: last?.disk_bytes ?? null }}
      points={analytics.steps.map((step) => ({
        begins: step.begins_at,
        time: stepText(range, step.begins_at),
        values: valuesOf(step),
      }))}
      kind="lines"
      format={sizeText}
      formatAxis={sizeText}
    />
  );
}
