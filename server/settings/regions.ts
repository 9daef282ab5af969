/** The regions in `SITEWRIGHT_REGIONS`: `name` or `name=runtime`, separated by commas. The first one is the default. */
import { cloudRegions } from "@sitewright/contract/sites/cloudRegions.ts";
import { type RuntimeName, runtimeNames } from "@sitewright/runtimes/runtimeNames.ts";

export interface Region {
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** The runtime of new environments. */
  readonly runtime: RuntimeName;
}

/** Whether new environments of a region are native. */
export function usesNative(regions: readonly Region[]): boolean {
  return regions.some(({ runtime }) => runtime === "native");
}

const idPattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

interface Entry {
  readonly id: string;
  /** Null if the entry names none. */
  readonly runtime: string | null;
}

function entriesOf(setting: string): readonly Entry[] {
  return setting.split(",").map((entry) => {
    const [id = "", ...rest] = entry.split("=");
    return { id, runtime: rest.length === 0 ? null : rest.join("=") };
  });
}

/** Returns a sentence for each mistake. */
export function regionProblems(setting: string): string[] {
  const entries = entriesOf(setting);
  const misnamed = entries.filter(({ id }) => !idPattern.test(id));
  const repeated = entries.filter(({ id }, index) => entries.findIndex((other) => other.id === id) < index);
  const unknown = entries.filter(({ runtime }) => runtime !== null && runtimeNamed(runtime) === undefined);
  return [
    ...misnamed.map(
      ({ id }) => `"${id}" is not a name. Use lower-case letters, digits and hyphens, as in fast or europe-west3.`,
    ),
    ...repeated.map(({ id }) => `${id} is listed twice. List each region once.`),
    ...unknown.map(
      ({ id, runtime }) => `${id} has the unknown runtime "${runtime}". Runtimes: ${runtimeNames.join(", ")}.`,
    ),
  ].map((problem) => `SITEWRIGHT_REGIONS: ${problem}`);
}

/** The setting has no problems. `runtime` is that of regions that name none. */
export function parseRegions(setting: string, runtime: RuntimeName): readonly [Region, ...Region[]] {
  const [first = { id: "", runtime: null }, ...others] = entriesOf(setting);
  const regionOf = (entry: Entry): Region => ({
    id: entry.id,
    name: nameOf(entry.id),
    runtime: runtimeNamed(entry.runtime) ?? runtime,
  });
  return [regionOf(first), ...others.map(regionOf)];
}

function runtimeNamed(name: string | null): RuntimeName | undefined {
  return runtimeNames.find((known) => known === name);
}

/** `this-machine` is called "This machine". */
function nameOf(id: string): string {
  const words = id.replaceAll("-", " ");
  return cloudRegions.find((region) => region.id === id)?.name ?? words.charAt(0).toUpperCase() + words.slice(1);
}
