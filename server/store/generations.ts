/**
 * Numbers of the tables that a server is told, the edge and the DNS server: a higher one was read later. A change that a table
 * depends on takes one, too, so that every process sees that there is something to publish, even if the process that changed it died.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "./database.ts";

export interface Generations {
  /** A number higher than any given before. */
  next(database: Database | DatabaseTransaction): Promise<number>;
  /**
   * Has the table published again, by any process, after this transaction commits. Waits only for a table
   * that is just being read.
   */
  announce(transaction: DatabaseTransaction): Promise<void>;
  /**
   * Waits until every change that was announced under a lower generation than the caller's can be read. One that is announced
   * later gets a higher one, so that it is not taken for told.
   */
  awaitAnnounced(database: Database): Promise<void>;
  /** The highest number given so far; 0 before the first. */
  last(database: Database): Promise<number>;
  /** Makes the next one higher than `generation`: after a database was restored from an older copy. */
  raise(database: Database, generation: number): Promise<void>;
}

/** `lock` is used for nothing else. */
function generationsOf(sequence: string, lock: number): Generations {
  const name = sql.lit(sequence);
  const table = sql.table(sequence);

  async function next(database: Database | DatabaseTransaction): Promise<number> {
    const { rows } = await sql<{ generation: number }>`select nextval(${name}) as generation`.execute(database);
    const generation = rows[0]?.generation;
    if (generation === undefined) throw new Error("PostgreSQL gave no generation");
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
