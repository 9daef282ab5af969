import { Badge, Group, Progress, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Installation, installationQuery } from "../../api/installation.ts";
import { dateText, lengthText, sizeText } from "../../formats.ts";
import { Card } from "../../parts/Card.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { Page } from "../../parts/Page.tsx";
import { texts } from "../../texts.ts";
import { Figures } from "./Figures.tsx";

const at = texts.installation;

/** How the installation is doing. */
export function InstallationPage() {
  const installation = useQuery(installationQuery);
  return (
    <Page title={at.title}>
      <Text maw={720}>{at.hint}</Text>
      <Loaded query={installation}>
        {(found) => (
          <Stack>
            <Findings installation={found} />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Processes installation={found} />
              <Workers workers={found.workers} />
              <Disk disk={found.disk} />
              <Queue queue={found.queue} />
              <Archives archives={found.archives} />
              <Versions installation={found} />
            </SimpleGrid>
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

const levelColors = { ok: "green", note: "blue", problem: "red" } as const;
const levels = ["problem", "note", "ok"] as const;

/** Problems first. */
function Findings({ installation: { findings, findings_at: time } }: { readonly installation: Installation }) {
  return (
    <Card title={at.findings}>
      <Text size="sm" c="dimmed">
        {at.examined(dateText(time))}
      </Text>
      <ul className="list">
        {levels.flatMap((level) =>
          findings
            .filter((finding) => finding.level === level)
            .map(({ text }) => (
              <Group key={text} component="li" gap="sm" py={6} wrap="nowrap" align="start">
                <Badge variant="light" color={levelColors[level]} style={{ flexShrink: 0 }}>
                  {at.levels[level]}
                </Badge>
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {text}
                </Text>
              </Group>
            )),
        )}
      </ul>
    </Card>
  );
}

function Processes({ installation: { processes } }: { readonly installation: Installation }) {
  return (
    <Card title={at.processes}>
      <ul className="list">
        {processes.map(({ name, answers, memory_bytes: memory, running_seconds: seconds }) => (
          <Group key={name} component="li" justify="space-between" gap="sm" py={6}>
            <Stack gap={0}>
              <Text size="sm">{at.processNames[name]}</Text>
              {memory !== null && seconds !== null && (
                <Text size="xs" c="dimmed">
                  {at.processFacts(sizeText(memory), lengthText(seconds))}
                </Text>
              )}
            </Stack>
            <Badge variant="light" color={answers ? "green" : "red"}>
              {answers ? at.answers : at.noAnswer}
            </Badge>
          </Group>
        ))}
      </ul>
    </Card>
  );
}

function Workers({ workers }: Pick<Installation, "workers">) {
  return (
    <Card title={at.workers}>
      {workers === null ? (
        <Text size="sm">{at.noWorkers}</Text>
      ) : (
        <Figures
          of={[
            [at.busy, workers.busy],
            [at.idle, workers.idle],
            [at.prepared, workers.prepared],
            [at.maximum, workers.maximum],
          ]}
        />
      )}
    </Card>
  );
}

function Disk({ disk }: Pick<Installation, "disk">) {
  const { total_bytes: total, free_bytes: free } = disk;
  return (
    <Card title={at.disk}>
      <Text size="sm">{at.free(sizeText(free), sizeText(total))}</Text>
      <Progress value={total === 0 ? 0 : (100 * (total - free)) / total} aria-label={at.used} />
      <Figures
        of={[
          [at.environments, sizeText(disk.environments_bytes)],
          [at.database, sizeText(disk.database_bytes)],
        ]}
      />
    </Card>
  );
}

function Queue({ queue }: Pick<Installation, "queue">) {
  return (
    <Card title={at.queue}>
      <Figures
        of={[
          [at.running, queue.running],
          [at.waiting, queue.waiting],
          ...(queue.waiting > 0 ? [[at.longestWait, lengthText(queue.longest_wait_seconds)] as const] : []),
          [at.succeeded, queue.succeeded],
          [at.failed, queue.failed],
        ]}
      />
    </Card>
  );
}

function Archives({ archives }: Pick<Installation, "archives">) {
  return (
    <Card title={at.archives}>
      <Figures
        of={[
          [at.backups, archives.backups],
          [at.stored, sizeText(archives.stored_bytes)],
          [at.oldest, at.old(lengthText(archives.oldest_newest_seconds))],
          [at.pending, archives.pending],
          [at.missing, archives.missing],
          [at.failing, archives.failing],
          [at.damaged, archives.damaged],
        ]}
      />
    </Card>
  );
}

function Versions({ installation: { versions, content } }: { readonly installation: Installation }) {
  return (
    <Card title={at.versions}>
      <Figures
        of={[
          [at.sitewright, versions.sitewright],
          [at.node, versions.node],
          [at.postgres, versions.database],
          [at.platform, versions.platform],
          [at.companies, content.companies],
          [at.sites, content.sites],
          [at.environments, content.environments],
        ]}
      />
    </Card>
  );
}
