/** Everything that the native runtime needs of this machine, PHP included, examined at once. */
import type { GroupLimits } from "../processor/environments.ts";
import { checkMachine, type MachineFindings } from "./requirements.ts";
import { discoverPhp, machineRoot } from "./versions/discovery.ts";
import { type DiscoveredPhp, UnusableRoot } from "./versions/installation.ts";
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
  const php = await discoverPhp({ folder: phpRoots }).catch((error: unknown) => {
    if (error instanceof UnusableRoot) return error;
    throw error;
  });
  if (!(php instanceof UnusableRoot)) {
    const missing = php.offered.length > 0 ? [] : [noPhpMessage, ...php.refused];
    return { ...(await checkMachine({ groups, missing, degraded: [] }, hasFile)), ...php };
  }
  // There is no bubblewrap, so PHP can't be asked for its version.
  const missing = findPrograms(machineRoot).programs.length > 0 ? [] : [noPhpMessage];
  const findings = await checkMachine({ groups, missing, degraded: [] }, hasFile);
  return {
    ...findings,
    missing: findings.missing.length > 0 ? findings.missing : [php.message],
    offered: [],
    refused: [],
  };
}
