/** The regions of this installation. Each has the runtime of its new environments. */
import { cloudRegions } from "@sitewright/contract/sites/cloudRegions.ts";
import type { Context, Region, Regions } from "../context.ts";
import { Refused } from "../failures.ts";

export function list({ regions }: Context): { name: string; region: string }[] {
  return regions.map(({ id, name }) => ({ name, region: id }));
}

/**
 * Returns the region that a request names. Clients know the names of a cloud's regions, which mean the default region. Throws
 * `Refused` if there is no such region.
 */
export function requireRegion({ regions }: Context, id: string): Region {
  const isCloudRegion = cloudRegions.some((region) => region.id === id);
  const found = regions.find((region) => region.id === id) ?? (isCloudRegion ? regions[0] : undefined);
  if (found !== undefined) return found;
  const offered = regions.map((region) => region.id);
  throw new Refused("unknown_region", `There is no region "${id}". Available regions: ${offered.join(", ")}.`, {
    region: id,
    offered,
  });
}

/** Returns the region that a site is in, by the one that is recorded: the default one if that is no longer there. */
export function regionOf(regions: Regions, recorded: string): Region {
  return regions.find(({ id }) => id === recorded) ?? regions[0];
}
