import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../api/client.ts";
import { failedOperations, latestOperations, type OperationSummary } from "../api/operations.ts";
import { useSignedIn } from "../api/session.ts";
import { vulnerabilitiesQuery } from "../api/sites.ts";
import { dateText } from "../formats.ts";
import { ButtonLink } from "../parts/ButtonLink.tsx";
import { Card } from "../parts/Card.tsx";
import { CompanyTrend } from "../parts/CompanyTrend.tsx";
import { Loaded } from "../parts/Failure.tsx";
import { OperationRow } from "../parts/OperationsPanel.tsx";
import { Page } from "../parts/Page.tsx";
import { kindText, texts } from "../texts.ts";

const shownVulnerabilities = 10;

/** Problems that need attention, each with a button that leads to the fix, and the running operations. */
export function HomePage() {
  const session = useSignedIn();
  const failed = useQuery(failedOperations);
  const vulnerabilities = useQuery(vulnerabilitiesQuery(session?.company.id ?? "", shownVulnerabilities));
  const latest = useQuery(latestOperations);
  return (
    <Page
      title={texts.home.greeting(session?.user.first_name ?? "")}
      actions={
        <ButtonLink to="/sites/new" variant="filled">
          {texts.sites.create}
        </ButtonLink>
      }
    >
      <Card title={texts.home.attention}>
        <Loaded query={failed}>
          {({ items, total }) => (
            <Loaded query={vulnerabilities}>
              {({ items: found }) => (
                <>
                  {items.length === 0 && found.length === 0 && <Text>{texts.home.nothing}</Text>}
                  {found.map((vulnerability) => (
                    <Vulnerable key={vulnerability.id} vulnerability={vulnerability} />
                  ))}
                  {items.map((operation) => (
                    <FailedOperation key={operation.operation_id} operation={operation} />
                  ))}
                  {total > items.length && <Text size="sm">{texts.home.hidden(total - items.length)}</Text>}
                </>
              )}
            </Loaded>
          )}
        </Loaded>
      </Card>
      <CompanyTrend companyId={session?.company.id ?? ""} />
      <Card title={texts.home.running}>
        <Loaded query={latest}>{(operations) => <Running operations={operations} />}</Loaded>
      </Card>
    </Page>
  );
}

function Running({ operations }: { readonly operations: readonly OperationSummary[] }) {
  const running = operations.filter(({ state }) => state === "running" || state === "waiting");
  if (running.length === 0) return <Text>{texts.home.nothingRunning}</Text>;
  return (
    <Stack role="list">
      {running.map((operation) => (
        <OperationRow key={operation.operation_id} operation={operation} />
      ))}
    </Stack>
  );
}

function FailedOperation({ operation }: { readonly operation: OperationSummary }) {
  const what = texts.home.failed(kindText(operation.kind));
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap" align="start">
      <Stack gap={2}>
        <Text fw={600}>{what}</Text>
        <Text size="sm">{operation.message}</Text>
        <Text size="xs" c="dimmed">
          {dateText(operation.created_at)}
        </Text>
      </Stack>
      <ButtonLink
        to="/operations/$operationId"
        params={{ operationId: operation.operation_id }}
        variant="default"
        size="compact-sm"
        aria-label={`${texts.home.show}: ${what}`}
        style={{ flexShrink: 0 }}
      >
        {texts.home.show}
      </ButtonLink>
    </Group>
  );
}

/** One row for each environment that has the vulnerable version. */
function Vulnerable({ vulnerability }: { readonly vulnerability: Schemas["Vulnerability"] }) {
  const { name, title, environments, patched_version: patched } = vulnerability;
  return environments.map((environment) => (
    <Group key={environment.id} justify="space-between" gap="sm" wrap="nowrap" align="start">
      <Stack gap={2}>
        <Text fw={600}>{texts.home.vulnerable(name, environment.version)}</Text>
        <Text size="sm">{title}</Text>
        <Text size="xs" c="dimmed">
          {`${environment.site_display_name}, ${environment.display_name}. `}
          {patched === null ? texts.home.noUpdate : texts.home.update(patched)}
        </Text>
      </Stack>
      <ButtonLink
        to="/sites/$siteId"
        params={{ siteId: environment.site_id }}
        search={{ environment: environment.id, tab: "updates" }}
        variant="default"
        size="compact-sm"
        aria-label={`${texts.home.openSite}: ${environment.site_display_name}`}
        style={{ flexShrink: 0 }}
      >
        {texts.home.openSite}
      </ButtonLink>
    </Group>
  ));
}
