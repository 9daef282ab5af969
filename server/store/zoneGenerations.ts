/** Numbers of the tables that the DNS server is told: a higher one was read later. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "./database.ts";

/** A number higher than any given before. */
export async function nextZonesGeneration(database: Database | DatabaseTransaction): Promise<number> {
  const { rows } = await sql<{ generation: number }>`select nextval('dns_generation') as generation`.execute(database);
  const generation = rows[0]?.generation;
  if (generation === undefined) throw new Error("PostgreSQL gave no generation");
  return generation;
}

/** Any number; nobody else locks under it. */
const announcement = 4_711_013;

/** Says that the DNS server is to be told anew when this transaction is committed, whoever does it. */
export async function announceZones(transaction: DatabaseTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${announcement})`.execute(transaction);
  await nextZonesGeneration(transaction);
}

/** Waits until every change that was announced under a lower generation than the caller's can be read. */
export async function awaitAnnouncedZones(database: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(${announcement})`.execute(database);
}

/** The highest number given so far; 0 before the first. */
export async function lastZonesGeneration(database: Database): Promise<number> {
  const query = sql<{ generation: number }>`
    select case when is_called then last_value else 0 end as generation from dns_generation`;
  return (await query.execute(database)).rows[0]?.generation ?? 0;
}

/** Makes the next generation higher than `generation`: after a database was restored from an older copy. */
export async function raiseZonesGeneration(database: Database, generation: number): Promise<void> {
  await sql`select setval('dns_generation', greatest(${generation}, (select last_value from dns_generation)))`.execute(
    database,
  );
}
