import { Anchor, Group, SimpleGrid, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { answerOf, api } from "../../api/client.ts";
import { useStart } from "../../api/operations.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Card } from "../../parts/Card.tsx";
import { CopyId } from "../../parts/CopyId.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { LogInButton } from "../../parts/LogInButton.tsx";
import { texts } from "../../texts.ts";
import type { TabProps } from "./tabProps.ts";

const at = texts.site;

/** Facts and everyday actions. */
export function OverviewTab({ environment, region }: TabProps) {
  const { address } = environment;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card title={at.facts}>
        <dl className="facts">
          <Fact name={at.address}>
            <Anchor href={address} target="_blank" rel="noreferrer" style={{ overflowWrap: "anywhere" }}>
              {address}
            </Anchor>
          </Fact>
          <Fact name={at.wordpress}>{environment.wordpress_version ?? at.unknown}</Fact>
          <Fact name={at.php}>{environment.container_info.php_engine_version.replace("php", "")}</Fact>
          <Fact name={at.region}>{region}</Fact>
          <Fact name={at.id}>
            <CopyId value={environment.id} name={at.id} />
          </Fact>
        </dl>
      </Card>
      <Card title={at.tools}>
        <LogInButton key={environment.id} environmentId={environment.id} />
        <Tools key={`${environment.id} tools`} environmentId={environment.id} />
      </Card>
    </SimpleGrid>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="sm" c="dimmed">
        {name}
      </Text>
      <dd>{children}</dd>
    </div>
  );
}

function Tools({ environmentId }: { readonly environmentId: string }) {
  const body = { environment_id: environmentId };
  const cache = useStart(() => answerOf(api.POST("/sites/tools/clear-cache", { body })));
  const php = useStart(() => answerOf(api.POST("/sites/tools/restart-php", { body })));
  const reason = mayChange(useSignedIn()) ? null : texts.needsRole;
  return (
    <>
      <Failure error={cache.error ?? php.error} />
      <Group>
        <ActionButton
          variant="default"
          reason={reason}
          loading={cache.isPending}
          onClick={() => cache.mutate(undefined)}
        >
          {at.clearCache}
        </ActionButton>
        <ActionButton variant="default" reason={reason} loading={php.isPending} onClick={() => php.mutate(undefined)}>
          {at.restartPhp}
        </ActionButton>
      </Group>
      {(cache.isSuccess || php.isSuccess) && <Text role="status">{texts.operation.started}</Text>}
    </>
  );
}
