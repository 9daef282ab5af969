/** The visits and requests of the company in the last seven days. */
import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { companyAnalyticsQuery } from "../api/analytics.ts";
import { numberText } from "../numberFormats.ts";
import { texts } from "../texts.ts";
import { Card } from "./Card.tsx";
import { Loaded } from "./Failure.tsx";

const at = texts.analytics;
/** As the API counts them. */
const utcDays = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

interface Day {
  readonly begins: number;
  readonly value: number;
}

export function CompanyTrend({ companyId }: { readonly companyId: string }) {
  const analytics = useQuery(companyAnalyticsQuery(companyId));
  return (
    <Card title={at.trend}>
      <Loaded query={analytics}>
        {(days) =>
          days.every(({ requests }) => requests === 0) ? (
            <Text>{at.noTrend}</Text>
          ) : (
            <Group gap="xl">
              <Trend
                name={at.visits.title}
                days={days.map(({ begins_at: begins, visits: value }) => ({ begins, value }))}
              />
              <Trend
                name={at.requests.title}
                days={days.map(({ begins_at: begins, requests: value }) => ({ begins, value }))}
              />
            </Group>
          )
        }
      </Loaded>
    </Card>
  );
}

const height = 40;
const [barWidth, barPlace] = [12, 16];

function Trend({ name, days }: { readonly name: string; readonly days: readonly Day[] }) {
  const largest = Math.max(1, ...days.map(({ value }) => value));
  const list = days.map(({ begins, value }) => at.trendDay(utcDays.format(begins), numberText(value))).join(", ");
  return (
    <Stack gap={4}>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Group gap="sm" align="end">
        <Text fw={600}>{numberText(days.reduce((sum, { value }) => sum + value, 0))}</Text>
        <svg
          role="img"
          aria-label={`${at.trendOf(name)}: ${list}`}
          width={days.length * barPlace}
          height={height}
          fill="var(--mantine-color-indigo-5)"
        >
          {days.map(({ begins, value }, index) => (
            <Bar key={begins} x={index * barPlace} share={value / largest} />
          ))}
        </svg>
      </Group>
    </Stack>
  );
}

function Bar({ x, share }: { readonly x: number; readonly share: number }) {
  const size = Math.max(1, share * height);
  return <rect x={x} y={height - size} width={barWidth} height={size} rx={2} />;
}
