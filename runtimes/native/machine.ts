/** Everything that the native runtime needs of this machine, PHP included, examined at once. */
import type { GroupLimits } from "../processor/environments.ts";
import { degraded, findSandboxProblem, type MachineFindings } from "./requirements.ts";
import { discoverPhp, machineRoot } from "./versions/discovery.ts";
import type { DiscoveredPhp } from "./versions/installation.ts";
import { noPhpMessage } from "./versions/neededExtensions.ts";
import { findPrograms } from "./versions/programs.ts";

interface MachineOptions {
  /** What control groups limit, as `useEnvironmentGroups` returns it. */
  readonly groups: GroupLimits;
  /** Folder where added folders with PHP are recorded. */
  readonly phpRoots: string;
}

export interface ExaminedMachine extends MachineFindings, DiscoveredPhp {}

/** `hasFile`: whether a program exists; absent: looks. */
export async function examineMachine(
  { groups, phpRoots }: MachineOptions,
  hasFile?: (file: string) => boolean,
): Promise<ExaminedMachine> {
  if (process.platform !== "linux") {
    return { missing: ["The native runtime needs Linux."], degraded: [], offered: [], refused: [] };
  }
  const problem = await findSandboxProblem(hasFile);
  if (problem !== null) {
    // PHP says in a sandbox what it is, so only its files can be looked for.
    const noPhp = findPrograms(machineRoot).programs.length > 0 ? [] : [noPhpMessage];
    return { missing: [problem, ...noPhp], degraded: degraded(groups), offered: [], refused: [] };
  }
  const php = await discoverPhp({ folder: phpRoots });
  const missing = php.offered.length > 0 ? [] : [noPhpMessage, ...php.refused];
  return { missing, degraded: degraded(groups), ...php };
}
