/** The runtimes of the control process. */
import type { Capabilities, EnvironmentRuntime, Runtime } from "@sitewright/runtimes/runtime.ts";
import { runtimeNames } from "@sitewright/runtimes/runtimeNames.ts";
import { combineRuntimes, type Runtimes } from "@sitewright/runtimes/severalRuntimes.ts";
import type { Database } from "../store/database.ts";
import { findRuntimes, listRuntimes } from "../store/sites/environmentStates.ts";
import { CannotStart } from "../supervisedProcess.ts";

export interface OpenedRuntimes {
  readonly runtime: EnvironmentRuntime;
  /** What each runtime can do, by its name. */
  readonly capabilities: ReadonlyMap<string, Capabilities>;
}

/** `missing`: the runtimes that environments have and this process does not. */
function messageFor(missing: readonly string[]): string {
  const unknown = missing.filter((name) => !runtimeNames.some((known) => known === name));
  if (unknown.length > 0) {
    return `Environments run under the runtime ${unknown.join(", ")}, which this version of Sitewright does not have. Start the version that created them, or a newer one.`;
  }
  const regions = missing.map((name) => `fast=${name}`).join(",");
  return `Environments run under the runtime ${missing.join(", ")}, which no region has. Name it, as in SITEWRIGHT_REGIONS=this-machine,${regions}. To do without it, start like that, move the environments to another runtime (PUT /sites/environments/{env_id}/runtime), and remove it.`;
}

/** Throws `CannotStart` if environments have another runtime. */
export async function openRuntimes(database: Database, runtimes: Runtimes<Runtime>): Promise<OpenedRuntimes> {
  const missing = (await listRuntimes(database)).filter((name) => runtimes[name] === undefined);
  if (missing.length > 0) {
    throw new CannotStart(messageFor(missing));
  }
  const capabilities = new Map<string, Capabilities>();
  for (const [name, runtime] of Object.entries(runtimes)) capabilities.set(name, await runtime.capabilities());
  return { runtime: combineRuntimes(runtimes, (ids) => findRuntimes(database, ids)), capabilities };
}
