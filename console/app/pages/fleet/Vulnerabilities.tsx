import { Anchor, Badge, Group, Paper, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import type { Schemas } from "../../api/client.ts";
import { useSignedIn } from "../../api/session.ts";
import { vulnerabilitiesQuery } from "../../api/sites.ts";
import { TextLink } from "../../parts/ButtonLink.tsx";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { Notice } from "../../parts/Notice.tsx";
import { texts } from "../../texts.ts";

const at = texts.fleet;
const limit = 200;

/** Known vulnerabilities of plugins and themes in all environments, worst first. */
export function Vulnerabilities() {
  const vulnerabilities = useQuery(vulnerabilitiesQuery(useSignedIn()?.company.id ?? "", limit));
  return (
    <Loaded query={vulnerabilities}>
      {({ items, total, feed }) => (
        <Stack>
          {feed === null && <Notice>{at.noFeed}</Notice>}
          {feed?.problem != null && <Notice>{feed.problem}</Notice>}
          {items.length === 0 && feed !== null && (
            <EmptyState title={at.noVulnerabilities} hint={at.noVulnerabilitiesHint} />
          )}
          {items.map((vulnerability) => (
            <Vulnerability key={vulnerability.id} vulnerability={vulnerability} />
          ))}
          {total > items.length && <Text size="sm">{texts.home.hidden(total - items.length)}</Text>}
        </Stack>
      )}
    </Loaded>
  );
}

function Vulnerability({ vulnerability }: { readonly vulnerability: Schemas["Vulnerability"] }) {
  const { title, score, reference, name, affected, patched_version: patched, environments } = vulnerability;
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" align="start" wrap="nowrap">
        <Text fw={600}>{title}</Text>
        {score !== null && (
          <Badge color="red" miw="max-content">
            {at.score(score)}
          </Badge>
        )}
      </Group>
      <Text size="sm">
        {at.affected(name, affected)}. {patched === null ? at.notPatched : at.patched(patched)}.
      </Text>
      <Text size="sm" c="dimmed">
        {environments.map((each, index) => (
          <Fragment key={each.id}>
            {index > 0 && "; "}
            <TextLink
              to="/sites/$siteId"
              params={{ siteId: each.site_id }}
              search={{ environment: each.id, tab: "updates" }}
              size="sm"
            >
              {`${each.site_display_name}, ${each.display_name}`}
            </TextLink>
            {` (${each.version})`}
          </Fragment>
        ))}
      </Text>
      {reference !== null && (
        <Anchor href={reference} target="_blank" rel="noreferrer" size="sm">
          {at.reference}
        </Anchor>
      )}
    </Paper>
  );
}
