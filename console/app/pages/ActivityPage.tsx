import { Anchor, Badge, Button, Group, Loader, Paper, Select, Stack, Text } from "@mantine/core";
import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { answerOf, api, type Schemas } from "../api/client.ts";
import type { paths } from "../api/schema.d.ts";
import { useSignedIn } from "../api/session.ts";
import { dateText } from "../formats.ts";
import { EmptyState } from "../parts/EmptyState.tsx";
import { Failure } from "../parts/Failure.tsx";
import { Page } from "../parts/Page.tsx";
import { texts } from "../texts.ts";

const at = texts.activity;
const words = texts.activityExport;
type Entry = Schemas["ActivityEntry"];
export type ActivityCategory = keyof typeof at.categories;

export const isCategory = (value: unknown): value is ActivityCategory =>
  typeof value === "string" && value in at.categories;

/** Languages that the API's descriptions have. */
const languages = ["da", "de", "en", "es", "fr", "it", "ja", "nl", "pt", "sv"] as const;
const language = languages.find((known) => navigator.language.toLowerCase().startsWith(known)) ?? "en";
const pageLength = 50;

const activityQuery = (company: string, category: ActivityCategory | undefined) =>
  infiniteQueryOptions({
    queryKey: ["operations", "activity", company, category],
    queryFn: async ({ pageParam, signal }) => {
      const query = {
        limit: pageLength,
        language,
        ...(category !== undefined && { category }),
        ...(pageParam !== 0 && { before: pageParam }),
      };
      const params = { path: { id: company }, query };
      const { company: found } = await answerOf(api.GET("/company/{id}/activity-logs", { params, signal }));
      return found.activity_logs.items;
    },
    initialPageParam: 0,
    getNextPageParam: (last) => (last.length < pageLength ? undefined : last.at(-1)?.id),
  });

/** What happened in the company, with the person or key that did it, in the reader's language. */
export function ActivityPage({ category }: { readonly category: ActivityCategory | undefined }) {
  const company = useSignedIn()?.company.id ?? "";
  const navigate = useNavigate();
  const log = useInfiniteQuery(activityQuery(company, category));
  const entries = log.data?.pages.flat() ?? [];
  return (
    <Page title={at.title} actions={<ActivityExport company={company} category={category} />}>
      <Select
        label={at.category}
        maw={320}
        placeholder={at.all}
        clearable
        clearButtonProps={{ "aria-label": at.all }}
        data={Object.entries(at.categories).map(([value, label]) => ({ value, label }))}
        value={category ?? null}
        onChange={(value) =>
          void navigate({ to: "/activity", search: isCategory(value) ? { category: value } : {}, replace: true })
        }
      />
      <Failure error={log.error} retry={() => void log.refetch()} />
      {log.isPending && <Loader size="sm" role="status" aria-label={texts.loading} />}
      {log.isSuccess && entries.length === 0 && <EmptyState title={at.empty} hint={at.emptyHint} />}
      {entries.length > 0 && (
        <Paper withBorder p="lg">
          <Stack role="list" aria-label={at.list}>
            {entries.map((entry) => (
              <EntryRow key={entry.id} entry={entry} />
            ))}
          </Stack>
        </Paper>
      )}
      {log.hasNextPage && (
        <Button
          variant="default"
          style={{ alignSelf: "start" }}
          loading={log.isFetchingNextPage}
          onClick={() => void log.fetchNextPage()}
        >
          {at.older}
        </Button>
      )}
    </Page>
  );
}

interface ActivityExportProps {
  readonly company: string;
  readonly category: ActivityCategory | undefined;
}

/** Links to files with all entries that the page is about. */
function ActivityExport({ company, category }: ActivityExportProps) {
  const path: keyof paths = "/company/{id}/activity-logs/export";
  const address = `/v2${path.replace("{id}", company)}`;
  const queryOf = (format: string) => new URLSearchParams({ format, ...(category !== undefined && { category }) });
  return (
    <>
      <Anchor href={`${address}?${queryOf("csv")}`} download size="sm">
        {words.csv}
      </Anchor>
      <Anchor href={`${address}?${queryOf("jsonl")}`} download size="sm">
        {words.jsonLines}
      </Anchor>
    </>
  );
}

function EntryRow({ entry }: { readonly entry: Entry }) {
  const { initiated_by: by, api_key_info: key, public_error: reason } = entry;
  return (
    <Stack gap={2} role="listitem">
      <Group justify="space-between" gap="xs" wrap="nowrap" align="start">
        <Text style={{ overflowWrap: "anywhere" }}>{entry.descriptions?.join(" ") ?? entry.type}</Text>
        <EntryState entry={entry} />
      </Group>
      <Text size="xs" c="dimmed">
        {dateText(entry.created_at)} · {at.by(by?.full_name ?? at.system, key?.name ?? null)}
        {entry.ip_address !== null && ` · ${entry.ip_address}`}
      </Text>
      {reason !== null && <Text size="sm">{reason}</Text>}
    </Stack>
  );
}

function EntryState({
  entry: { has_failed: hasFailed, has_warning: hasWarning, is_done: isDone },
}: {
  readonly entry: Entry;
}) {
  if (hasFailed) return <Badge color="red">{at.failed}</Badge>;
  if (hasWarning)
    return (
      <Badge color="yellow" variant="light">
        {at.warning}
      </Badge>
    );
  return isDone ? null : <Badge color="blue">{at.running}</Badge>;
}
