/** One site of the list. */
import { Anchor, Badge, Button, Checkbox, Group, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { pictureQuery } from "../../api/pictures.ts";
import type { LiveOverview, SiteOverview } from "../../api/siteOverviews.ts";
import { dayText } from "../../formats.ts";
import { TextLink } from "../../parts/ButtonLink.tsx";
import { LogInOfSite } from "../../parts/LogInButton.tsx";
import { texts } from "../../texts.ts";

const at = texts.overview;
const stateColors = { ready: "green", busy: "blue", awaits_rebuild: "yellow" } as const;

interface SiteRowProps {
  /** Undefined while it is being read, or if it can't be. */
  readonly site: SiteOverview | undefined;
  /** Why it could not be read, or null. */
  readonly error: Error | null;
  /** Reads it again. */
  readonly retry: () => void;
  readonly isSelected: boolean;
  readonly toggle: (site: SiteOverview) => void;
}

/** The cells of a row. */
export function SiteRow({ site, error, retry, isSelected, toggle }: SiteRowProps) {
  if (site === undefined) {
    return (
      <td style={{ gridColumn: "1 / -1" }}>
        {error === null ? (
          <Skeleton height={16} aria-label={texts.loading} />
        ) : (
          <Group gap="sm" wrap="nowrap">
            <Text size="sm">{error.message}</Text>
            <Button size="compact-sm" variant="default" onClick={retry} style={{ flexShrink: 0 }}>
              {texts.retry}
            </Button>
          </Group>
        )}
      </td>
    );
  }
  const { live } = site;
  return (
    <>
      <td>
        <Checkbox checked={isSelected} onChange={() => toggle(site)} aria-label={at.select(site.display_name)} />
      </td>
      <td className="wide-only">
        <Picture site={site} />
      </td>
      <td>
        <SiteName site={site} />
      </td>
      <td className="wide-only">
        <State live={live} />
      </td>
      <td className="wide-only">{live?.wordpress_version ?? "–"}</td>
      <td className="wide-only">{live?.php_version ?? "–"}</td>
      <td className="wide-only">{live === null || live.updates === 0 ? <None /> : live.updates}</td>
      <td className="wide-only">
        {live === null || live.vulnerabilities === 0 ? (
          <None />
        ) : (
          <Badge color="red.9">{at.vulnerable(live.vulnerabilities)}</Badge>
        )}
      </td>
      <td className="wide-only">
        {live === null || live.proven_restore_at === null ? at.never : dayText(live.proven_restore_at)}
      </td>
    </>
  );
}

const None = () => (
  <Text span size="sm" c="dimmed">
    {at.none}
  </Text>
);

function State({ live }: Pick<SiteOverview, "live">) {
  if (live === null) return <Text size="sm">{at.noLive}</Text>;
  return (
    <Badge variant="light" color={stateColors[live.state]}>
      {at.states[live.state]}
    </Badge>
  );
}

function SiteName({ site }: { readonly site: SiteOverview }) {
  const { live } = site;
  return (
    <>
      <TextLink to="/sites/$siteId" params={{ siteId: site.id }} fw={600} truncate="end" display="block">
        {site.display_name}
      </TextLink>
      {live !== null && (
        <Group gap="xs" wrap="nowrap">
          <Anchor href={live.address} target="_blank" rel="noreferrer" size="sm" truncate="end" display="block">
            {live.domain}
          </Anchor>
          <LogInOfSite environmentId={live.id} siteName={site.display_name} />
        </Group>
      )}
      <Group gap={4} wrap="nowrap" style={{ overflow: "hidden" }}>
        {site.siteLabels.map(({ id, name }) => (
          <Badge key={id} variant="default" size="sm" tt="none" style={{ flexShrink: 0 }}>
            {name}
          </Badge>
        ))}
        {site.environment_count > 1 && (
          <Text size="xs" c="dimmed" style={{ flexShrink: 0 }}>
            {at.environments(site.environment_count)}
          </Text>
        )}
      </Group>
      {live !== null && (
        <Text size="xs" c="dimmed" truncate="end" className="narrow-only">
          {factsOf(live)}
        </Text>
      )}
    </>
  );
}

/** What the columns say, in one line. */
function factsOf(live: LiveOverview): string {
  return [
    ...(live.state === "ready" ? [] : [at.states[live.state]]),
    ...(live.vulnerabilities > 0 ? [at.vulnerable(live.vulnerabilities)] : []),
    ...(live.updates > 0 ? [at.updateCount(live.updates)] : []),
    ...(live.wordpress_version === null ? [] : [`${at.wordpress} ${live.wordpress_version}`]),
    `${at.php} ${live.php_version}`,
  ].join(" · ");
}

/** The top of the front page, or the first letter of the name. */
function Picture({ site }: { readonly site: SiteOverview }) {
  const operationId = site.live?.picture_operation_id ?? null;
  const { data } = useQuery({ ...pictureQuery(operationId ?? "", "/"), enabled: operationId !== null });
  return (
    <span className="site-picture" aria-hidden="true">
      {data ? <img src={data.after} alt="" /> : site.display_name.trim().charAt(0).toLocaleUpperCase()}
    </span>
  );
}
