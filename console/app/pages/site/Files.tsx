import { Anchor, Group, List, Text } from "@mantine/core";
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.files;

const filesQuery = (environmentId: string, path: string) =>
  queryOptions({
    queryKey: ["sites", "files", environmentId, path],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId }, query: { path } };
      return (await answerOf(api.GET("/sites/environments/{env_id}/file-list", { params, signal }))).environment
        .file_list;
    },
    placeholderData: keepPreviousData,
  });

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";

/** The environment's files, one folder at a time. */
export function Files({ environmentId }: { readonly environmentId: string }) {
  const [path, open] = useState("/");
  const files = useQuery(filesQuery(environmentId, path));
  return (
    <Card title={at.title} maxWidth={720}>
      <Group gap="xs">
        <Text size="sm" role="status" style={{ overflowWrap: "anywhere" }}>
          {path === "/" ? at.root : path}
        </Text>
        {path !== "/" && (
          <ActionButton size="compact-sm" variant="default" onClick={() => open(parentOf(path))}>
            {at.up}
          </ActionButton>
        )}
      </Group>
      <Loaded query={files}>
        {(found) =>
          found.length === 0 ? (
            <Text size="sm">{at.empty}</Text>
          ) : (
            <List size="sm" listStyleType="none" aria-label={at.list}>
              {found.map((entry) => (
                <List.Item key={entry.path} style={{ overflowWrap: "anywhere" }}>
                  {entry.is_folder ? (
                    <Anchor
                      component="button"
                      type="button"
                      size="sm"
                      aria-label={at.open(entry.path)}
                      onClick={() => open(entry.path)}
                    >
                      {`${entry.name}/`}
                    </Anchor>
                  ) : (
                    entry.name
                  )}
                </List.Item>
              ))}
            </List>
          )
        }
      </Loaded>
    </Card>
  );
}
