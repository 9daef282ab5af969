/** All zones of a table, each made ready when it is first asked for. */
import { type Name, parentOf, readName, root } from "./names.ts";
import type { WrittenZone } from "./tableText.ts";
import { compileZone, type Zone } from "./zone.ts";

/** `broken`: it is ours, but what the table says of it can't be served. */
export type Found = Zone | "broken" | null;

export interface Zones {
  readonly size: number;
  /** The zone that this name is in, and not the one below which that zone is. Null if it is in none of ours. */
  find(name: Name): Found;
  /** Serials by the zones' names as the table writes them. */
  readonly serials: ReadonlyMap<string, number>;
}

/** `onBroken` is told once of a zone that can't be served. */
export function createZones(written: readonly WrittenZone[], onBroken: (zone: string, error: unknown) => void): Zones {
  const zones = new Map<Name, WrittenZone | Zone | "broken">();
  const serials = new Map<string, number>();
  for (const zone of written) {
    try {
      zones.set(readName(zone.name), zone);
      serials.set(zone.name, zone.serial);
    } catch (error) {
      onBroken(zone.name, error);
    }
  }

  function ready(apex: Name, zone: WrittenZone | Zone | "broken"): Zone | "broken" {
    if (zone === "broken" || !("read" in zone)) return zone;
    let made: Zone | "broken" = "broken";
    try {
      made = compileZone(zone.read());
    } catch (error) {
      onBroken(zone.name, error);
    }
    // What the table said is let go of: a zone is in memory once.
    zones.set(apex, made);
    return made;
  }

  return {
    size: zones.size,
    serials,
    find(name) {
      for (let apex = name; apex !== root; apex = parentOf(apex)) {
        const zone = zones.get(apex);
        if (zone !== undefined) return ready(apex, zone);
      }
      return null;
    },
  };
}
