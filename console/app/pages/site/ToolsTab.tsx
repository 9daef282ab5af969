import { Stack } from "@mantine/core";
import { PageClearing } from "./PageClearing.tsx";
import { PhpVersion } from "./PhpVersion.tsx";
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
      <PageClearing environmentId={environment.id} />
    </Stack>
  );
}
