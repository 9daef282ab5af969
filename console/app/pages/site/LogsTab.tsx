import { Code, Group, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";
import { RefusedStatements } from "./RefusedStatements.tsx";
import type { TabProps } from "./tabProps.ts";

const at = texts.logs;
type LogFile = keyof typeof at.files;
const lines = 500;
/** Milliseconds between two looks at the log. */
const followMilliseconds = 3_000;

const logQuery = (environmentId: string, file: LogFile, search: string) =>
  queryOptions({
    queryKey: ["logs", environmentId, file, search],
    queryFn: async ({ signal }) => {
      const query = { file_name: file, lines, ...(search !== "" && { search }) };
      const params = { path: { env_id: environmentId }, query };
      const { environment } = await answerOf(api.GET("/sites/environments/{env_id}/logs", { params, signal }));
      return environment.container_info;
    },
    refetchInterval: followMilliseconds,
    placeholderData: keepPreviousData,
  });

/** The newest lines of an environment's logs, which are followed. */
export function LogsTab({ environment: { id } }: TabProps) {
  const [file, choose] = useState<LogFile>("error");
  const [search, setSearch] = useState("");
  const [sought] = useDebouncedValue(search, 300);
  const log = useQuery(logQuery(id, file, sought));
  return (
    <Stack>
      <Group align="end">
        <SegmentedControl
          aria-label={at.file}
          value={file}
          data={[
            { value: "error", label: at.files.error },
            { value: "access", label: at.files.access },
          ]}
          onChange={(value) => choose(value === "access" ? "access" : "error")}
        />
        <TextInput
          label={at.search}
          value={search}
          autoComplete="off"
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      </Group>
      <Loaded query={log}>
        {({ logs, is_complete: isComplete }) =>
          logs === "" ? (
            <EmptyState title={sought === "" ? at.empty : at.noMatch(sought)} hint={at.emptyHint} />
          ) : (
            <>
              <Text size="sm" c="dimmed">
                {isComplete ? at.follows : `${at.earlier} ${at.follows}`}
              </Text>
              <LogLines text={logs} />
            </>
          )
        }
      </Loaded>
      <RefusedStatements environmentId={id} />
    </Stack>
  );
}

/** Scrolls to the end when lines are added, unless the reader has scrolled up. */
function LogLines({ text }: { readonly text: string }) {
  const block = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (block.current !== null && isAtEnd.current) block.current.scrollTop = block.current.scrollHeight;
  });
  return (
    <Code
      block
      ref={block}
      tabIndex={0}
      role="region"
      aria-label={at.content}
      mah="60vh"
      style={{ overflow: "auto" }}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - 20;
      }}
    >
      {text}
    </Code>
  );
}
