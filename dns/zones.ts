/** All zones of a table, each compiled when it is first queried. */
import { type Name, parentOf, readName, root } from "./names.ts";
import type { ZoneText } from "./tableText.ts";
import { compileZone, type Zone } from "./zone.ts";

/** `broken`: the table has the zone, but it can't be served. */
export type FoundZone = Zone | "broken" | null;

export interface Zones {
  readonly size: number;
  /** The lowest zone that contains the name, or null. */
  find(name: Name): FoundZone;
  /** Serials by the zones' names as written in the table. */
  readonly serials: ReadonlyMap<string, number>;
}

/** `onBroken` is called once for each zone that can't be served. */
export function createZones(written: readonly ZoneText[], onBroken: (zone: string, error: unknown) => void): Zones {
  const zones = new Map<Name, ZoneText | Zone | "broken">();
  const serials = new Map<string, number>();
  for (const zone of written) {
    try {
      zones.set(readName(zone.name), zone);
      serials.set(zone.name, zone.serial);
    } catch (error) {
      onBroken(zone.name, error);
    }
  }

  function compiled(apex: Name, zone: ZoneText | Zone | "broken"): Zone | "broken" {
    if (zone === "broken" || !("read" in zone)) return zone;
    let result: Zone | "broken" = "broken";
    try {
      result = compileZone(zone.read());
    } catch (error) {
      onBroken(zone.name, error);
    }
    // Replaces the text, so that a zone is in memory only once.
    zones.set(apex, result);
    return result;
  }

  return {
    size: zones.size,
    serials,
    find(name) {
      for (let apex = name; apex !== root; apex = parentOf(apex)) {
        const zone = zones.get(apex);
        if (zone !== undefined) return compiled(apex, zone);
      }
      return null;
    },
  };
}
