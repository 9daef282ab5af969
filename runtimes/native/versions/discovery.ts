/** Finds the versions of PHP that environments can run on: the machine's, and those in added folders. */
import { accessSync, constants, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import pLimit from "p-limit";
import { fileInRoot } from "../rootPath.ts";
import { addedRoots } from "./addedRoots.ts";
import type { DiscoveredPhp, PhpInstallation, PhpRoot } from "./installation.ts";
import { describeMissing, describeMissingCommandLine } from "./neededExtensions.ts";
import { ProbeFailure, probeCommandLine, probeFpm } from "./probe.ts";
import { commandLinePrograms, type FpmProgram, findPrograms } from "./programs.ts";
import { compareVersions, isOffered, type PhpVersion } from "./version.ts";

/** The machine's own system, with the PHP of its packages. */
export const machineRoot: PhpRoot = { folder: "/", place: "on this machine" };

/** `folder`: where added roots are recorded; it may not exist. Rejects if there is no bubblewrap, or if the record can't be read. */
export async function discoverPhp({ folder }: { readonly folder: string }): Promise<DiscoveredPhp> {
  return newestOf(await inspectRoots([machineRoot, ...(await addedRoots(folder))]));
}

/** What each root has, without choosing between them. */
export async function inspectRoots(roots: readonly PhpRoot[]): Promise<DiscoveredPhp> {
  const limit = pLimit(availableParallelism());
  const found = await Promise.all(roots.map((root) => inspectRoot(root, limit)));
  return { offered: found.flatMap(({ offered }) => offered), refused: found.flatMap(({ refused }) => refused) };
}

/** Keeps the newest of each version, and of equal ones the first. */
function newestOf({ offered, refused }: DiscoveredPhp): DiscoveredPhp {
  const newest = new Map<string, PhpInstallation>();
  for (const one of offered) {
    const other = newest.get(one.version);
    if (other === undefined || compareVersions(one.fullVersion, other.fullVersion) > 0) newest.set(one.version, one);
  }
  const older = offered.filter((one) => newest.get(one.version) !== one);
  const reasons = older.map(({ version, fullVersion, place }) => {
    const chosen = newest.get(version);
    return `PHP ${fullVersion} ${place} is not offered: there is PHP ${chosen?.fullVersion} ${chosen?.place}.`;
  });
  const inOrder = [...newest.values()].toSorted((one, other) => compareVersions(one.fullVersion, other.fullVersion));
  return { offered: inOrder, refused: [...refused, ...reasons] };
}

type Limit = <T>(work: () => Promise<T>) => Promise<T>;

async function inspectRoot(root: PhpRoot, limit: Limit): Promise<DiscoveredPhp> {
  const problem = problemOf(root);
  if (problem !== null) return { offered: [], refused: [`PHP ${root.place} is not offered: ${problem}`] };
  const { programs, problems } = findPrograms(root);
  // Machines without PHP are common.
  if (programs.length === 0 && problems.length === 0 && root !== machineRoot)
    return {
      offered: [],
      refused: [`PHP ${root.place} is not offered: it has no usr/sbin/php-fpm. Install php-fpm there.`],
    };
  const found = await Promise.all(programs.map((program) => limit(() => inspectProgram(root, program))));
  return {
    offered: found.filter((one) => typeof one !== "string"),
    refused: [...problems, ...found.filter((one) => typeof one === "string")],
  };
}

/** Returns what is wrong with the folder itself, or null. */
function problemOf({ folder }: PhpRoot): string | null {
  const facts = statSync(folder, { throwIfNoEntry: false });
  if (facts === undefined) return "the folder does not exist. Put it back, or remove it from the list.";
  if (!facts.isDirectory()) return "it is not a folder. Name a folder that contains usr.";
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
  } catch {
    return "this user can't read it. Change its permissions.";
  }
  return fileInRoot(folder, "/usr") === null ? "it has no folder usr. Name a folder with a whole system." : null;
}

/** Returns the installation, or a sentence why it is not offered. */
async function inspectProgram(root: PhpRoot, program: FpmProgram): Promise<PhpInstallation | string> {
  const { fpm } = program;
  try {
    const { version, extensions } = await probeFpm(root, fpm);
    const refuse = (reason: string) => `PHP ${version.minor} ${root.place} is not offered: ${reason}`;
    if (!isOffered(version)) return refuse("it is older than 8.1. Install a newer one.");
    const missing = describeMissing(fpm, extensions);
    if (missing !== null) return refuse(missing);
    const php = await findCommandLine(root, program, version);
    if (php === null) return refuse(describeMissingCommandLine(fpm, version.full));
    const { minor, full } = version;
    return { version: minor, fullVersion: full, root: root.folder, place: root.place, fpm, php, extensions };
  } catch (error) {
    if (error instanceof ProbeFailure) return `PHP ${root.place} is not offered: ${error.message}`;
    throw error;
  }
}

/** Returns null if there is none of the same version that has the extensions. */
async function findCommandLine(
  root: PhpRoot,
  program: FpmProgram,
  { minor, full }: PhpVersion,
): Promise<string | null> {
  for (const php of commandLinePrograms(root.folder, program, minor)) {
    const probed = await probeCommandLine(root, php).catch((error: unknown) => {
      if (error instanceof ProbeFailure) return null;
      throw error;
    });
    const isFit = probed?.version.full === full && describeMissing(program.fpm, probed.extensions) === null;
    if (isFit) return php;
  }
  return null;
}
