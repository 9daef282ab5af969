/** What the DNS server was last sent for each zone: a serial, and a digest of the content. */
import { sql } from "kysely";
import type { Database } from "../database.ts";

interface ServedZone {
  readonly name: string;
  readonly serial: number;
  readonly digest: string;
}

/**
 * Returns the serial of each zone: the given one, or a higher one if it was served before with other content. So every change
 * raises it, also if a domain or another company's records left the zone.
 */
export async function nextSerials(
  database: Database,
  zones: readonly ServedZone[],
): Promise<ReadonlyMap<string, number>> {
  const known = await database.selectFrom("served_zones").selectAll().execute();
  const byName = new Map(known.map((zone) => [zone.name, zone]));
  const changed = zones.filter(({ name, serial, digest }) => {
    const before = byName.get(name);
    return before === undefined || before.digest !== digest || before.serial < serial;
  });
  const raised = await store(database, changed);
  return new Map([...known, ...raised].map(({ name, serial }) => [name, serial]));
}

type Serial = Pick<ServedZone, "name" | "serial">;

/** Returns the new serials. Other processes may store the same zones at the same time. */
async function store(database: Database, zones: readonly ServedZone[]): Promise<readonly Serial[]> {
  const names = zones.map(({ name }) => name);
  const serials = zones.map(({ serial }) => serial);
  const digests = zones.map(({ digest }) => digest);
  const { rows } = await sql<Serial>`
    insert into served_zones as z (name, serial, digest)
    select * from unnest(${names}::text[], ${serials}::bigint[], ${digests}::text[]) order by 1
    on conflict (name) do update set digest = excluded.digest, serial =
      greatest(excluded.serial, z.serial + case when z.digest = excluded.digest then 0 else 1 end)
    returning name, serial`.execute(database);
  return rows;
}

/** Forgets zones that no longer exist. */
export async function forgetServedZones(database: Database): Promise<void> {
  await sql`delete from served_zones s where not exists (select from zones z where z.name = s.name)`.execute(database);
}
