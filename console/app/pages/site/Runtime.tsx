import { Select, Text } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { useStart } from "../../api/operations.ts";
import { ActionForm } from "../../parts/ActionForm.tsx";
import { Card } from "../../parts/Card.tsx";
import { Loaded } from "../../parts/Failure.tsx";
import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { texts } from "../../texts.ts";

const at = texts.runtime;

const runtimeQuery = (environmentId: string) =>
  queryOptions({
    queryKey: ["sites", "runtime", environmentId],
    queryFn: ({ signal }) => readRuntime(environmentId, signal),
  });

async function readRuntime(environmentId: string, signal: AbortSignal) {
  const params = { path: { env_id: environmentId } };
  return (await answerOf(api.GET("/sites/environments/{env_id}/runtime", { params, signal }))).environment;
}

type EnvironmentRuntime = Awaited<ReturnType<typeof readRuntime>>;

/** Moves the environment to another runtime, if there is one. */
export function Runtime({ environmentId }: { readonly environmentId: string }) {
  const runtime = useQuery(runtimeQuery(environmentId));
  return (
    <Loaded query={runtime}>
      {(found) =>
        found.available_runtimes.length < 2 ? (
          <Card title={at.title} maxWidth={720}>
            <Text size="sm">{`${found.runtime}. ${at.only}`}</Text>
          </Card>
        ) : (
          <Move environmentId={environmentId} found={found} />
        )
      }
    </Loaded>
  );
}

function Move({ environmentId, found }: { readonly environmentId: string; readonly found: EnvironmentRuntime }) {
  const [wanted, choose] = useState({ runtime: found.runtime, php_version: found.php_version });
  const versions = found.available_runtimes.find(({ runtime }) => runtime === wanted.runtime)?.php_versions ?? [];
  // Not every runtime has the version that was chosen for another one.
  const version = versions.includes(wanted.php_version) ? wanted.php_version : (versions.at(-1) ?? "");
  const chosen = { runtime: wanted.runtime, php_version: version };
  const start = useStart((body: Schemas["RuntimeChange"]) => {
    const params = { path: { env_id: environmentId } };
    return answerOf(api.PUT("/sites/environments/{env_id}/runtime", { params, body }));
  });
  return (
    <ActionForm
      title={at.title}
      hint={at.hint}
      verb={at.verb}
      submit={(event) => {
        event.preventDefault();
        start.mutate(chosen);
      }}
      isSending={start.isPending}
      error={start.error}
      reason={chosen.runtime === found.runtime ? at.current : null}
      request={{ method: "PUT", path: `/sites/environments/${environmentId}/runtime`, body: chosen }}
      outcome={
        start.data !== undefined && (
          <OperationOutcome key={start.data.operation_id} operationId={start.data.operation_id}>
            {({ state }) => state === "succeeded" && <Text size="sm">{at.moved}</Text>}
          </OperationOutcome>
        )
      }
    >
      <Select
        label={at.choice}
        allowDeselect={false}
        data={found.available_runtimes.map(({ runtime }) => runtime)}
        value={chosen.runtime}
        onChange={(runtime) => runtime !== null && choose({ ...chosen, runtime })}
      />
      <Select
        label={texts.tools.php}
        allowDeselect={false}
        data={versions}
        value={chosen.php_version}
        onChange={(next) => next !== null && choose({ ...chosen, php_version: next })}
      />
    </ActionForm>
  );
}
