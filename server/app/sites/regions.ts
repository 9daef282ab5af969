/** Where new sites can be said to be. */
import { regions } from "@sitewright/contract/sites/regions.ts";
import { Refused } from "../failures.ts";

export function list(): { name: string; region: string }[] {
  return regions.map(({ id, name }) => ({ name, region: id }));
}

export function requireRegion(id: string): void {
  if (regions.some((region) => region.id === id)) return;
  throw new Refused(
    "unknown_region",
    `There is no region "${id}"; the company's available regions list those there are.`,
    {
      region: id,
    },
  );
}
