/**
 * Generations number the tables that are published to the edge and the DNS server; a higher one was read later. A
 * change to published data takes a generation too, so that every process sees that a table must be published, even if
 * the process that made the change has died.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "./database.ts";

export interface Generations {
  /** Returns a higher number than ever before. */
  next(database: Database | DatabaseTransaction): Promise<number>;
  /**
   * Makes some process publish the table again after this transaction commits. Waits only while a process reads the
   * table.
   */
  announce(transaction: DatabaseTransaction): Promise<void>;
  /**
   * Waits until all changes announced under a lower generation than the caller's are committed. Later changes get a
   * higher generation and are not taken for published.
   */
  awaitAnnounced(database: Database): Promise<void>;
  /** Returns the highest number so far; 0 before the first. */
  last(database: Database): Promise<number>;
  /** Makes the next number higher than `generation`, for databases that were restored from an older copy. */
  raise(database: Database, generation: number): Promise<void>;
}

/** `lock` is the key of an advisory lock that has no other use. */
function generationsOf(sequence: string, lock: number): Generations {
  const name = sql.lit(sequence);
  const table = sql.table(sequence);

  async function next(database: Database | DatabaseTransaction): Promise<number> {
    const { rows } = await sql<{ generation: number }>`select nextval(${name}) as generation`.execute(database);
    const generation = rows[0]?.generation;
    if (generation === undefined) throw new Error("PostgreSQL returned no generation");
    return generation;
  }

  return {
    next,
    announce: async (transaction) => {
      await sql`select pg_advisory_xact_lock_shared(${lock})`.execute(transaction);
      await next(transaction);
    },
    awaitAnnounced: async (database) => {
      await sql`select pg_advisory_xact_lock(${lock})`.execute(database);
    },
    last: async (database) => {
      const query = sql<{ generation: number }>`
        select case when is_called then last_value else 0 end as generation from ${table}`;
      return (await query.execute(database)).rows[0]?.generation ?? 0;
    },
    raise: async (database, generation) => {
      await sql`select setval(${name}, greatest(${generation}, (select last_value from ${table})))`.execute(database);
    },
  };
}

export const edgeGenerations = generationsOf("edge_generation", 4_711_011);
export const dnsGenerations = generationsOf("dns_generation", 4_711_013);
