/** Running rollouts: their progress, the next environment, and their end. */
import { sql } from "kysely";
import type { Actor, Database, DatabaseTransaction } from "../database.ts";
import type { RolloutFacts } from "./rollouts.ts";

/** Returns the ids of unfinished rollouts, oldest first. */
export async function listUnfinishedRollouts(database: Database): Promise<readonly string[]> {
  const query = database.selectFrom("rollouts").select("id").where("ended_at", "is", null);
  return (await query.orderBy("created_at").execute()).map(({ id }) => id);
}

/** An unfinished rollout. */
export interface UnfinishedRollout extends RolloutFacts {
  readonly actor: Actor;
}

/** Locks an unfinished rollout until the transaction ends. Returns null if there is no such rollout. */
export async function lockRollout(transaction: DatabaseTransaction, id: string): Promise<UnfinishedRollout | null> {
  const row = await transaction
    .selectFrom("rollouts")
    .select(["id", "company_id", "kind", "name", "version", "actor"])
    .select(["concurrency", "canaries", "stop_after_failures", "state"])
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

const unknownResult = "The result of this update is no longer known.";

/**
 * Copies the results of ended operations to the rollout. Superseded ones count as skipped: they say nothing about the
 * version.
 */
export async function noteEndedItems(transaction: DatabaseTransaction, rolloutId: string): Promise<void> {
  await sql`
    update rollout_items i set ended_at = coalesce(n.finished_at, now()),
      state = case when n.state = 'succeeded' then 'updated' when n.failure_kind = 'superseded' then 'skipped' else 'failed' end,
      reason = case when n.state is null then ${unknownResult} else n.public_error end
    from (
      select j.environment_id, o.state, o.public_error, o.failure_kind, o.finished_at
      from rollout_items j left join operations o on o.id = j.operation_id
      where j.rollout_id = ${rolloutId} and j.state = 'running'
        and (o.id is null or o.state in ('succeeded', 'failed'))
    ) n
    where i.rollout_id = ${rolloutId} and i.environment_id = n.environment_id`.execute(transaction);
}

export interface RolloutProgress {
  readonly waiting: number;
  readonly running: number;
  readonly updated: number;
  readonly failed: number;
  /** Failed canaries, which `failed` includes. */
  readonly failedCanaries: number;
}

export async function progressOf(transaction: DatabaseTransaction, rolloutId: string): Promise<RolloutProgress> {
  const { rows } = await sql<RolloutProgress>`
    select count(*) filter (where state = 'waiting')::int as waiting,
      count(*) filter (where state = 'running')::int as running,
      count(*) filter (where state = 'updated')::int as updated,
      count(*) filter (where state = 'failed')::int as failed,
      count(*) filter (where is_canary and state = 'failed')::int as "failedCanaries"
    from rollout_items where rollout_id = ${rolloutId}`.execute(transaction);
  return rows[0] ?? { waiting: 0, running: 0, updated: 0, failed: 0, failedCanaries: 0 };
}

/** Returns the id of the next environment, or null if none is waiting. */
export async function nextEnvironment(transaction: DatabaseTransaction, rolloutId: string): Promise<string | null> {
  const next = await transaction
    .selectFrom("rollout_items")
    .select("environment_id as id")
    .where("rollout_id", "=", rolloutId)
    .where("state", "=", "waiting")
    .orderBy("position")
    .limit(1)
    .executeTakeFirst();
  return next?.id ?? null;
}

export interface BegunItem {
  readonly operationId: string;
  readonly from: string;
  readonly to: string;
}

interface RolloutItem {
  readonly environmentId: string;
  /** Whether the others wait for its result. */
  readonly isCanary: boolean;
  /** The operation that was started, or why none was. */
  readonly become: BegunItem | { readonly skipped: string };
}

export async function recordItem(
  transaction: DatabaseTransaction,
  rolloutId: string,
  { environmentId, isCanary, become }: RolloutItem,
): Promise<void> {
  const change =
    "skipped" in become
      ? { state: "skipped" as const, reason: become.skipped, ended_at: sql<Date>`now()` }
      : {
          state: "running" as const,
          operation_id: become.operationId,
          from_version: become.from,
          to_version: become.to,
        };
  await transaction
    .updateTable("rollout_items")
    .set({ ...change, is_canary: isCanary })
    .where("rollout_id", "=", rolloutId)
    .where("environment_id", "=", environmentId)
    .execute();
}

/** Stops or cancels a rollout: starts no more updates; running ones continue. */
export async function stopRollout(
  transaction: DatabaseTransaction,
  rolloutId: string,
  { state, reason }: { readonly state: "stopped" | "cancelled"; readonly reason: string },
): Promise<void> {
  await transaction.updateTable("rollouts").set({ state }).where("id", "=", rolloutId).execute();
  await transaction
    .updateTable("rollout_items")
    .set({ state: "skipped", reason, ended_at: sql<Date>`now()` })
    .where("rollout_id", "=", rolloutId)
    .where("state", "=", "waiting")
    .execute();
}

/** Ends a rollout after its last update. */
export async function endRollout(transaction: DatabaseTransaction, { id, state }: UnfinishedRollout): Promise<void> {
  await transaction
    .updateTable("rollouts")
    .set({ state: state === "running" ? "ended" : state, ended_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
}
