/** What `doctor` says about the native runtime. */
import { examineMachine } from "@sitewright/runtimes/native/machine.ts";
import { findNetworkProblem } from "@sitewright/runtimes/native/network/phpNetwork.ts";
import { environmentGroupsOf } from "@sitewright/runtimes/processor/environments.ts";
import { readRun } from "@sitewright/supervisor/records.ts";
import type { Config } from "../settings/config.ts";
import { usesNative } from "../settings/regions.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

/** Only a service of systemd has control groups, so a terminal can't try what the next start will have. */
const unknownGroups = { memory: true, pids: true };

/** Nothing if no region is native. */
export async function nativeRuntime({ data, regions, phpRoots, phpMayReach }: Config): Promise<readonly Finding[]> {
  if (!usesNative(regions)) return [];
  const run = readRun(data);
  const groups = run === null ? unknownGroups : environmentGroupsOf(data, run.pid);
  const { offered, refused, missing, degraded } = await examineMachine({ groups, phpRoots });
  const network = missing.length > 0 ? null : await findNetworkProblem({ mayReach: phpMayReach });
  const versions = offered.map(({ fullVersion, root }) => (root === "/" ? fullVersion : `${fullVersion} (${root})`));
  return [
    ...missing.map((sentence) => problem(`Native PHP: ${sentence}`)),
    ...(missing.length > 0 ? [] : [ok(`Native PHP: ${versions.join(", ")}, in sandboxes.`)]),
    // If no PHP is offered, the missing requirements already say why.
    ...(offered.length > 0 ? refused : []).map((sentence) => note(`Native PHP: ${sentence}`)),
    ...[...degraded, ...(network === null ? [] : [network])].map((sentence) => note(`Native PHP: ${sentence}`)),
  ];
}
