import { Anchor, Group, SegmentedControl, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type Analytics, type AnalyticsRange, analyticsQuery, rangeNamed } from "../../../api/analytics.ts";
import { EmptyState } from "../../../parts/EmptyState.tsx";
import { Loaded } from "../../../parts/Failure.tsx";
import { texts } from "../../../texts.ts";
import type { TabProps } from "../tabProps.ts";
import { zoneName } from "./analyticsFormats.ts";
import { DiskFigure, TrafficFigures } from "./figures.tsx";

const at = texts.analytics;

/** What the web server counted, as charts. The period is in the address. */
export function AnalyticsTab({ siteId, environment }: TabProps) {
  const range = rangeNamed(useSearch({ from: "/signed-in/sites/$siteId" }).range);
  const navigate = useNavigate();
  const analytics = useQuery(analyticsQuery(environment.id, range));
  const show = (value: string) =>
    navigate({
      to: "/sites/$siteId",
      params: { siteId },
      search: (now) => ({ ...now, range: rangeNamed(value) }),
      replace: true,
    });
  return (
    <Stack>
      <Group>
        <SegmentedControl
          aria-label={at.range}
          value={range}
          data={[
            { value: "1h", label: at.ranges["1h"] },
            { value: "24h", label: at.ranges["24h"] },
            { value: "7d", label: at.ranges["7d"] },
            { value: "30d", label: at.ranges["30d"] },
          ]}
          onChange={(value) => void show(value)}
        />
        <Text size="sm" c="dimmed">
          {at.zone(zoneName())}
        </Text>
      </Group>
      <Loaded query={analytics}>{(loaded) => <Figures {...loaded} address={environment.address} />}</Loaded>
    </Stack>
  );
}

interface FiguresProps {
  readonly analytics: Analytics;
  readonly range: AnalyticsRange;
  /** Of the site. */
  readonly address: string;
}

function Figures({ analytics, range, address }: FiguresProps) {
  const hasGaps = analytics.steps.some(({ figures }) => figures === null);
  return (
    <>
      {analytics.total.requests === 0 && (
        <EmptyState title={at.empty} hint={at.emptyHint}>
          <Anchor href={address} target="_blank" rel="noreferrer">
            {at.open}
          </Anchor>
        </EmptyState>
      )}
      {hasGaps && (
        <Text size="sm" c="dimmed">
          {at.gaps}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {analytics.total.requests > 0 && <TrafficFigures analytics={analytics} range={range} />}
        <DiskFigure analytics={analytics} range={range} />
      </SimpleGrid>
    </>
  );
}
