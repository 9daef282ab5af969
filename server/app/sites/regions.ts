/** The regions that new sites can be assigned to. */
import { regions } from "@sitewright/contract/sites/regions.ts";
import { Refused } from "../failures.ts";

export function list(): { name: string; region: string }[] {
  return regions.map(({ id, name }) => ({ name, region: id }));
}

export function requireRegion(id: string): void {
  if (regions.some((region) => region.id === id)) return;
  throw new Refused("unknown_region", `There is no region "${id}". Send one of the company's available regions.`, {
    region: id,
  });
}
