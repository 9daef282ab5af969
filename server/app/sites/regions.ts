/** The regions that new sites can be assigned to. */
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";

export function list({ regions }: Context): { name: string; region: string }[] {
  return regions.map(({ id, name }) => ({ name, region: id }));
}

/** Throws `Refused` if new sites can't be assigned to the region. */
export function requireRegion({ regions }: Context, id: string): void {
  if (regions.some((region) => region.id === id)) return;
  throw new Refused("unknown_region", `There is no region "${id}". Send one of the company's available regions.`, {
    region: id,
  });
}
