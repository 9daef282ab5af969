/** When API keys were last used. */
import type { Pool } from "pg";

/** Seconds within which a later use of a key is not written, by any process. */
const precision = 60;

/**
 * Records the last use of keys. Changes each key at most once a minute, and never to an earlier time. Leaves out keys that
 * another transaction is changing: waiting for several locks could end in a deadlock with it.
 */
export async function recordKeyUse(pool: Pool, lastUses: ReadonlyMap<string, Date>): Promise<void> {
  const uses = [...lastUses];
  await pool.query(
    `with used as (
       select k.id, u.at from api_keys k join unnest($1::uuid[], $2::timestamptz[]) as u (id, at) on u.id = k.id
       where k.last_used_at is null or k.last_used_at <= u.at - make_interval(secs => $3)
       for no key update of k skip locked
     )
     update api_keys k set last_used_at = used.at from used where k.id = used.id`,
    [uses.map(([id]) => id), uses.map(([, at]) => at), precision],
  );
}
