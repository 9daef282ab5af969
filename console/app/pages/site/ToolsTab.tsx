import { Stack } from "@mantine/core";
import { Files } from "./Files.tsx";
import { PageClearing } from "./PageClearing.tsx";
import { PhpVersion } from "./PhpVersion.tsx";
import { Runtime } from "./Runtime.tsx";
import { SearchAndReplace } from "./SearchAndReplace.tsx";
import type { TabProps } from "./tabProps.ts";
import { WpCli } from "./WpCli.tsx";

/** Tools for developers. */
export function ToolsTab({ environment, region }: TabProps) {
  return (
    <Stack key={environment.id}>
      <WpCli environmentId={environment.id} />
      <SearchAndReplace environmentId={environment.id} />
      <PhpVersion environment={environment} region={region} />
      <Runtime environmentId={environment.id} />
      <PageClearing environmentId={environment.id} />
      <Files environmentId={environment.id} />
    </Stack>
  );
}
