import { Group, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { useStart } from "../../api/operations.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { type Environment, phpVersionsQuery } from "../../api/sites.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure, Loaded } from "../../parts/Failure.tsx";
import { OperationOutcome } from "../../parts/OperationOutcome.tsx";
import { texts } from "../../texts.ts";

const at = texts.tools;

interface PhpVersionProps {
  readonly environment: Environment;
  readonly region: string;
}

/** Changes the PHP version, which is tried first. */
export function PhpVersion({ environment, region }: PhpVersionProps) {
  const session = useSignedIn();
  const versions = useQuery(phpVersionsQuery(session?.company.id ?? "", region));
  const current = environment.container_info.php_engine_version.replace("php", "");
  const [wanted, choose] = useState(current);
  const isOffered = (version: string) => versions.data?.some((found) => found.php_version === version) === true;
  const chosen = isOffered(wanted) ? wanted : current;
  const body = { environment_id: environment.id, php_version: chosen };
  const start = useStart(() => answerOf(api.PUT("/sites/tools/modify-php-version", { body })));
  const forbidden = mayChange(session) ? null : texts.needsRole;
  return (
    <Card title={at.php} maxWidth={720}>
      <Loaded query={versions}>
        {(found) => (
          <Select
            label={at.php}
            description={at.phpHint}
            allowDeselect={false}
            data={[
              ...(isOffered(current) ? [] : [{ value: current, label: at.phpGone(current), disabled: true }]),
              ...found.map((version) => ({ value: version.php_version, label: labelOf(version) })),
            ]}
            value={chosen}
            onChange={(value) => value !== null && choose(value)}
          />
        )}
      </Loaded>
      <Failure error={start.error} />
      <Group>
        <ActionButton
          reason={forbidden ?? (chosen === current ? at.phpCurrent : null)}
          loading={start.isPending}
          onClick={() => start.mutate(undefined)}
        >
          {at.changePhp}
        </ActionButton>
        <CurlButton method="PUT" path="/sites/tools/modify-php-version" body={body} />
      </Group>
      {start.data !== undefined && (
        <OperationOutcome key={start.data.operation_id} operationId={start.data.operation_id}>
          {({ state }) => state === "succeeded" && at.phpChanged}
        </OperationOutcome>
      )}
    </Card>
  );
}

function labelOf({ php_version: version, is_default: isDefault, has_ended: hasEnded }: Schemas["AvailablePhpVersion"]) {
  if (hasEnded) return at.phpEnded(version);
  return isDefault ? at.phpDefault(version) : version;
}
