import { Badge, Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../api/client.ts";
import { may, useSignedIn } from "../api/session.ts";
import { companyLimitsQuery, usageQuery } from "../api/usage.ts";
import { sizeText } from "../formats.ts";
import { decimalText } from "../numberFormats.ts";
import { TextLink } from "../parts/ButtonLink.tsx";
import { Card } from "../parts/Card.tsx";
import { DataTable } from "../parts/DataTable.tsx";
import { Loaded } from "../parts/Failure.tsx";
import { Page } from "../parts/Page.tsx";
import { texts } from "../texts.ts";

const at = texts.usage;
const megabyte = 1_000_000;

/** What the company may use, and what each environment has used. */
export function UsagePage() {
  const session = useSignedIn();
  const company = session?.company.id ?? "";
  const seesLimits = may(session, "see_limits");
  const limits = useQuery({ ...companyLimitsQuery(company), enabled: seesLimits });
  const usage = useQuery(usageQuery(company));
  return (
    <Page title={at.title}>
      <Card title={at.limits}>
        <Text size="sm">{seesLimits ? at.limitsHint : texts.needs.seeLimits}</Text>
        {seesLimits && <Loaded query={limits}>{(found) => <Limits {...found} />}</Loaded>}
      </Card>
      <Card title={at.usage}>
        <Text size="sm">{at.usageHint}</Text>
        <Loaded query={usage}>
          {({ items, total }) =>
            items.length === 0 ? (
              <Text size="sm">{at.empty}</Text>
            ) : (
              <>
                <UsageTable items={items} />
                {items.length < total && <Text size="sm">{at.more(items.length, total)}</Text>}
              </>
            )
          }
        </Loaded>
      </Card>
    </Page>
  );
}

interface LimitsProps {
  readonly limits: Schemas["CompanyLimits"];
  readonly use: Schemas["CompanyUse"];
}

function Limits({ limits, use }: LimitsProps) {
  const count = (value: number | null) => (value === null ? at.none : decimalText(value));
  const size = (bytes: number | null) => (bytes === null ? at.none : sizeText(bytes));
  const rows = [
    { name: at.sites, used: count(use.sites), most: count(limits.sites) },
    { name: at.environments, used: count(use.environments), most: count(limits.environments) },
    { name: at.domains, used: count(use.domains), most: count(limits.domains) },
    { name: at.disk, used: size(use.disk_bytes), most: size(limits.disk_bytes) },
    { name: at.apiKeys, used: count(use.api_keys), most: count(limits.api_keys) },
    { name: at.threads, used: null, most: count(limits.thread_count) },
    {
      name: at.memory,
      used: null,
      most: size(limits.thread_memory === null ? null : limits.thread_memory * megabyte),
    },
    { name: at.mail, used: null, most: count(limits.mail_recipients_per_hour) },
  ];
  return (
    <DataTable label={at.limits} columns={[at.what, at.used, at.most]} minWidth={400}>
      {rows.map(({ name, used, most }) => (
        <Table.Tr key={name}>
          <Table.Td>{name}</Table.Td>
          <Table.Td>{used ?? "–"}</Table.Td>
          <Table.Td>{most}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

function UsageTable({ items }: { readonly items: readonly Schemas["EnvironmentUsage"][] }) {
  return (
    <DataTable
      label={at.usage}
      columns={[at.environment, at.cpu, at.requests, at.sent, at.size, at.killed]}
      minWidth={860}
    >
      {items.map((item) => (
        <Table.Tr key={item.environment_id}>
          <Table.Td style={{ overflowWrap: "anywhere" }}>
            <TextLink
              to="/sites/$siteId"
              params={{ siteId: item.site_id }}
              search={{ environment: item.environment_id }}
              size="sm"
            >
              {`${item.site_display_name}, ${item.display_name}`}
            </TextLink>
            {item.is_noisy && (
              <Group gap={4}>
                {item.noise.map((noise) => (
                  <Badge key={noise} color="yellow" variant="light">
                    {at.noise[noise]}
                  </Badge>
                ))}
              </Group>
            )}
          </Table.Td>
          <Table.Td>{decimalText(item.cpu_seconds)}</Table.Td>
          <Table.Td>{decimalText(item.php_requests)}</Table.Td>
          <Table.Td>{sizeText(item.bytes_sent)}</Table.Td>
          <Table.Td>{item.disk_bytes === null ? "–" : sizeText(item.disk_bytes)}</Table.Td>
          <Table.Td>{decimalText(item.killed_for_time + item.killed_for_memory)}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
