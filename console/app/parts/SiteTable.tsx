/** Sites as rows, of which only those near the window exist, so that ten thousand scroll smoothly. */
import { Anchor, Badge, Box, Group, Paper, Text } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { ListedSite } from "../api/sites.ts";
import { texts } from "../texts.ts";
import { TextLink } from "./ButtonLink.tsx";

interface SiteTableProps {
  readonly sites: readonly ListedSite[];
  /** Reads the next sites. Null: there are no more. */
  readonly more: (() => unknown) | null;
}

/** Pixels. */
const rowHeight = 64;

export function SiteTable({ sites, more }: SiteTableProps) {
  const list = useRef<HTMLUListElement>(null);
  const virtualizer = useWindowVirtualizer({
    count: sites.length,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: list.current?.offsetTop ?? 0,
  });
  const rows = virtualizer.getVirtualItems();
  const isAtEnd = (rows.at(-1)?.index ?? 0) >= sites.length - 1;
  useEffect(() => {
    if (isAtEnd) more?.();
  }, [isAtEnd, more]);
  return (
    <Paper withBorder>
      <ul
        ref={list}
        className="rows"
        aria-label={texts.sites.list}
        style={{ height: virtualizer.getTotalSize(), position: "relative" }}
      >
        {rows.map(({ index, start }) => {
          const site = sites[index];
          if (site === undefined) return null;
          const top = start - virtualizer.options.scrollMargin;
          return (
            <Box
              key={site.id}
              component="li"
              className="row"
              aria-setsize={sites.length}
              aria-posinset={index + 1}
              style={{ height: rowHeight, transform: `translateY(${top}px)` }}
            >
              <SiteRow site={site} />
            </Box>
          );
        })}
      </ul>
    </Paper>
  );
}

function SiteRow({ site }: { readonly site: ListedSite }) {
  const environments = site.environments ?? [];
  const live = environments.find(({ name }) => name === "live") ?? environments[0];
  return (
    <Group justify="space-between" wrap="nowrap" gap="md" px="md" h="100%">
      <Box miw={0} style={{ flex: 1 }}>
        <TextLink to="/sites/$siteId" params={{ siteId: site.id }} fw={600} truncate="end" display="block">
          {site.display_name}
        </TextLink>
        {live !== undefined && (
          <Anchor href={live.address} target="_blank" rel="noreferrer" size="sm" truncate="end" display="block">
            {live.primaryDomain.name}
          </Anchor>
        )}
      </Box>
      {environments.length > 1 && (
        <Badge variant="default" visibleFrom="xs">
          {`${environments.length} ${texts.sites.environments}`}
        </Badge>
      )}
      {live !== undefined && (
        <Text size="sm" visibleFrom="sm" w={200} ta="right">
          {`WordPress ${live.wordpress_version ?? texts.site.unknown}, PHP ${live.container_info.php_engine_version.replace("php", "")}`}
        </Text>
      )}
    </Group>
  );
}
