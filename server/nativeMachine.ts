/** What the native runtime needs of this machine: PHP, the means for sandboxes, and rules for PHP's network. */
import { basename, dirname, join } from "node:path";
import type { PhpProgram, SandboxNetwork } from "@sitewright/runtimes/native/environmentSandbox.ts";
import { examineMachine } from "@sitewright/runtimes/native/machine.ts";
import { createPhpNetwork, type PhpNetwork } from "@sitewright/runtimes/native/network/phpNetwork.ts";
import { removeLater } from "@sitewright/runtimes/native/removeFolder.ts";
import { describeMissing } from "@sitewright/runtimes/native/requirements.ts";
import { noPhpMessage } from "@sitewright/runtimes/native/versions/neededExtensions.ts";
import { useEnvironmentGroups } from "@sitewright/runtimes/processor/environments.ts";
import type { Logger } from "pino";
import { phpNetwork } from "./phpNetwork.ts";
import type { Config } from "./settings/config.ts";
import { usesNative } from "./settings/regions.ts";
import { CannotStart } from "./supervisedProcess.ts";

export interface NativeMachine {
  readonly phpOf: (version: string) => PhpProgram;
  /** In ascending order. */
  readonly phpVersions: readonly string[];
  readonly defaultPhpVersion: string;
  readonly network: PhpNetwork;
  readonly sandboxNetwork: SandboxNetwork;
  /** Folder for the layers of read-only requests. */
  readonly layers: string;
  /** Folder for the sockets of this process's sandboxes. */
  readonly run: string;
  /** The part of the runtime's state that each runtime keeps in a file of its own. */
  readonly eventsFile: string;
}

/**
 * Returns null if no region is native. Throws `CannotStart` with everything that is missing. `user`: the process that runs PHP; the
 * edge runs that of sites, and the other one WP-CLI.
 */
export async function openNativeMachine(
  config: Config,
  log: Logger,
  user: "edge" | "control",
): Promise<NativeMachine | null> {
  if (!usesNative(config.regions)) return null;
  const groups = await useEnvironmentGroups(config.data);
  const { offered, ...findings } = await examineMachine({ groups, phpRoots: config.phpRoots });
  const newest = offered.at(-1);
  const problem = describeMissing(findings);
  if (problem !== null || newest === undefined) throw new CannotStart(problem ?? noPhpMessage);
  const run = join(config.run, `native-${user}`);
  const layers = join(config.data, user, "native-layers");
  // Of a process that was killed: its sandboxes have ended with it.
  for (const folder of [run, layers])
    await removeLater(folder, (err) => log.warn({ err, folder }, "An old folder of native PHP could not be removed"));
  const lost = new AbortController();
  const network = await createPhpNetwork({
    ...phpNetwork(config),
    isSecond: user === "control",
    hosts: join(run, "hosts"),
    onLost: (reason) => {
      log.error({ reason }, "The rules for native PHP's network are gone; it runs without network now");
      lost.abort();
    },
  });
  if (user === "edge") {
    const degraded = [...findings.degraded, ...(network.problem === null ? [] : [network.problem])];
    for (const sentence of degraded) log.warn(sentence);
  }
  return {
    phpOf: (version) => {
      const found = offered.find((one) => one.version === version);
      if (found === undefined) throw new Error(`PHP ${version} is not on this machine.`);
      return found;
    },
    phpVersions: offered.map(({ version }) => version),
    defaultPhpVersion: newest.version,
    network,
    sandboxNetwork: {
      isRestricted: () => network.isRestricted,
      hostsFile: (environmentId) => network.hostsFile(environmentId),
      lost: lost.signal,
    },
    layers,
    run: join(run, "php"),
    eventsFile: join(dirname(config.eventsFile), `native-${basename(config.eventsFile)}`),
  };
}
