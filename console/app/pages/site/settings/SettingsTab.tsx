import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { settingsQuery } from "../../../api/settings.ts";
import { Loaded } from "../../../parts/Failure.tsx";
import type { TabProps } from "../tabProps.ts";
import { AutomaticUpdates } from "./AutomaticUpdates.tsx";
import { BlockedAddresses } from "./BlockedAddresses.tsx";
import { Limits } from "./Limits.tsx";
import { ScheduledTasks } from "./ScheduledTasks.tsx";
import { Switches } from "./Switches.tsx";
import { UpdateChecks } from "./UpdateChecks.tsx";

/** Settings of an environment. Each one is saved by itself. */
export function SettingsTab({ siteId, environment: { id } }: TabProps) {
  const settings = useQuery(settingsQuery(id));
  return (
    <Stack key={id}>
      <Loaded query={settings}>
        {(loaded) => (
          <>
            <Switches environmentId={id} settings={loaded} />
            <BlockedAddresses environmentId={id} addresses={loaded.blocked} />
            <Limits siteId={siteId} environmentId={id} limits={loaded.limits} />
            <UpdateChecks environmentId={id} checks={loaded.checks} />
            <AutomaticUpdates environmentId={id} updates={loaded.automatic} />
          </>
        )}
      </Loaded>
      <ScheduledTasks environmentId={id} />
    </Stack>
  );
}
