import { Switch, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../../../api/client.ts";
import { useStart } from "../../../api/operations.ts";
import { mayChange, useSignedIn } from "../../../api/session.ts";
import { type Settings, settingsQuery } from "../../../api/settings.ts";
import { Card } from "../../../parts/Card.tsx";
import { Failure } from "../../../parts/Failure.tsx";
import { OperationOutcome } from "../../../parts/OperationOutcome.tsx";
import { texts } from "../../../texts.ts";

const at = texts.settings;

interface SwitchesProps {
  readonly environmentId: string;
  readonly settings: Settings;
}

/** Settings that are on or off: the page cache and XML-RPC. */
export function Switches({ environmentId, settings }: SwitchesProps) {
  return (
    <>
      <PageCache environmentId={environmentId} settings={settings} />
      <XmlRpc environmentId={environmentId} settings={settings} />
    </>
  );
}

function PageCache({ environmentId, settings: { isCacheOn } }: SwitchesProps) {
  const isAllowed = mayChange(useSignedIn());
  const change = useStart((enabled: boolean) =>
    answerOf(api.PUT("/sites/edge-caching/status", { body: { environment_id: environmentId, enabled } })),
  );
  return (
    <Card title={at.cache} maxWidth={720}>
      <Failure error={change.error} />
      <Switch
        label={at.cacheOn}
        description={isAllowed ? at.cacheHint : texts.needsRole}
        disabled={!isAllowed || change.isPending}
        checked={isCacheOn}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
      {change.data !== undefined && (
        <OperationOutcome key={change.data.operation_id} operationId={change.data.operation_id}>
          {({ state }) => state === "succeeded" && <Text size="sm">{at.saved}</Text>}
        </OperationOutcome>
      )}
    </Card>
  );
}

function XmlRpc({ environmentId, settings: { isXmlRpcOn } }: SwitchesProps) {
  const client = useQueryClient();
  const isAllowed = mayChange(useSignedIn());
  const change = useMutation({
    mutationFn: (isEnabled: boolean) =>
      answerOf(api.PUT("/sites/tools/xml-rpc", { body: { environment_id: environmentId, is_enabled: isEnabled } })),
    onSuccess: () => client.invalidateQueries({ queryKey: settingsQuery(environmentId).queryKey }),
  });
  return (
    <Card title={at.xmlRpc} maxWidth={720}>
      <Failure error={change.error} />
      <Switch
        label={at.xmlRpcOn}
        description={isAllowed ? at.xmlRpcHint : texts.needsRole}
        disabled={!isAllowed || change.isPending}
        checked={isXmlRpcOn}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
      {change.isSuccess && <Text role="status">{at.saved}</Text>}
    </Card>
  );
}
