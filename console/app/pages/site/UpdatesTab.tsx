import { Anchor, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useStart } from "../../api/operations.ts";
import { packagesQuery, updateWordPress, wordpressQuery } from "../../api/packages.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { Notice } from "../../parts/Notice.tsx";
import { texts } from "../../texts.ts";
import { PackageUpdates } from "./PackageUpdates.tsx";
import type { TabProps } from "./tabProps.ts";
import { UpdateHistory } from "./UpdateHistory.tsx";
import { UpdateOutcome } from "./UpdateOutcome.tsx";

const at = texts.updates;

const notesOfWordPress = (version: string): string =>
  `https://wordpress.org/documentation/wordpress-version/version-${version.replaceAll(".", "-")}/`;

/** WordPress, plugins and themes of an environment, and their updates. */
export function UpdatesTab({ environment: { id } }: TabProps) {
  return (
    <Stack key={id}>
      <Text size="sm">{at.tested}</Text>
      <Problems environmentId={id} />
      <WordPress environmentId={id} />
      <PackageUpdates environmentId={id} kind="plugins" />
      <PackageUpdates environmentId={id} kind="themes" />
      <UpdateHistory environmentId={id} />
    </Stack>
  );
}

/** Why updates or vulnerabilities are not known, each reason once. */
function Problems({ environmentId }: { readonly environmentId: string }) {
  const wordpress = useQuery(wordpressQuery(environmentId)).data;
  const plugins = useQuery(packagesQuery(environmentId, "plugins")).data;
  const themes = useQuery(packagesQuery(environmentId, "themes")).data;
  const found = [wordpress, plugins, plugins?.checks.updates, plugins?.checks.vulnerabilities, themes].map(
    (part) => part?.problem ?? null,
  );
  return [...new Set(found)].map((problem) => problem !== null && <Notice key={problem}>{problem}</Notice>);
}

function WordPress({ environmentId }: { readonly environmentId: string }) {
  const versions = useQuery(wordpressQuery(environmentId));
  const start = useStart((version: string) => updateWordPress(environmentId, version));
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  return (
    <Card title={at.wordpress}>
      <Loaded query={versions}>
        {({ wordpress_version: current, update_versions: newer, problem }) => (
          <>
            {newer.length === 0 && (
              <Text>{(problem === null ? at.current : at.unchecked)(current ?? texts.site.unknown)}</Text>
            )}
            {newer.map((version) => (
              <Group key={version} justify="space-between">
                <div>
                  <Text>{at.wordpressUpdate(current ?? texts.site.unknown, version)}</Text>
                  <Anchor href={notesOfWordPress(version)} target="_blank" rel="noreferrer" size="sm">
                    {texts.pictures.releaseNotes(version)}
                  </Anchor>
                </div>
                <ActionButton
                  reason={forbidden}
                  loading={start.isPending}
                  aria-label={at.updateNamed(at.wordpress, version)}
                  onClick={() => start.mutate(version)}
                >
                  {at.update(version)}
                </ActionButton>
              </Group>
            ))}
          </>
        )}
      </Loaded>
      <Failure error={start.error} />
      {start.data !== undefined && <UpdateOutcome operationId={start.data.operation_id} />}
    </Card>
  );
}
