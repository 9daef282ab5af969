/** Newer versions that go to many environments: which ones, how far each is, and what is to be begun next. */
import { sql } from "kysely";
import type { Actor } from "./activity.ts";
import type { Database, DatabaseTransaction, PackageKind } from "./database.ts";
import { canBeUpdated } from "./packageUpdates.ts";
import type { RolloutItemState, RolloutState } from "./rolloutTables.ts";

export interface NewRollout {
  readonly id: string;
  readonly companyId: string;
  readonly kind: PackageKind;
  readonly name: string;
  /** Null: for each the newest that it is offered. */
  readonly version: string | null;
  readonly concurrency: number;
  readonly stopAfterFailures: number;
  readonly actor: Actor;
  /** In the order in which they get it. */
  readonly environmentIds: readonly string[];
  /** How many of these are tried before the others. */
  readonly canaries: number;
}

/** Environments that have been deleted meanwhile are left out. */
export async function insertRollout(transaction: DatabaseTransaction, rollout: NewRollout): Promise<void> {
  const { id, companyId, kind, name, version, concurrency, canaries, stopAfterFailures, actor } = rollout;
  const counts = { concurrency, canaries, stop_after_failures: stopAfterFailures };
  const row = { id, company_id: companyId, kind, name, version, ...counts };
  await transaction
    .insertInto("rollouts")
    .values({ ...row, actor: JSON.stringify(actor) })
    .execute();
  await sql`
    insert into rollout_items (rollout_id, environment_id, position, is_canary)
    select ${id}::uuid, e.id, n.position, n.position <= ${canaries}
    from unnest(${[...rollout.environmentIds]}::uuid[]) with ordinality as n(environment_id, position)
      join environments e on e.id = n.environment_id
    for key share of e`.execute(transaction);
}

/** An environment that something is installed in which can be updated there. */
export interface Holder {
  readonly id: string;
  readonly version_key: string;
  readonly update_version: string | null;
}

/** Environments of the company in which it can be updated and that are served; those that nobody visits first, then by site and name. */
export async function findHolders(
  database: Database | DatabaseTransaction,
  { companyId, kind, name }: { readonly companyId: string; readonly kind: PackageKind; readonly name: string },
): Promise<readonly Holder[]> {
  const { rows } = await sql<Holder>`
    select e.id, p.version_key, p.update_version
    from packages p join environments e on e.id = p.environment_id join sites s on s.id = e.site_id
    where p.company_id = ${companyId} and p.kind = ${kind} and p.name = ${name} and e.state = 'serving'
      and ${canBeUpdated}
    order by e.name = 'live', s.display_name, e.display_name, e.id`.execute(database);
  return rows;
}

/** Those of the ids that are environments of the company, and can be seen. */
export async function environmentsAmong(
  database: Database | DatabaseTransaction,
  companyId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from environments
    where id = any(${[...ids]}::uuid[]) and company_id = ${companyId} and state <> 'adding'`.execute(database);
  return new Set(rows.map(({ id }) => id));
}

export type RolloutCounts = Readonly<Record<RolloutItemState, number>>;

interface RolloutFacts {
  readonly id: string;
  readonly company_id: string;
  readonly kind: PackageKind;
  readonly name: string;
  readonly version: string | null;
  readonly concurrency: number;
  readonly canaries: number;
  readonly stop_after_failures: number;
  readonly state: RolloutState;
}

export interface RolloutRecord extends RolloutFacts {
  readonly created_at: Date;
  readonly ended_at: Date | null;
  readonly counts: RolloutCounts;
}

const recordColumns = sql`
  r.id, r.company_id, r.kind, r.name, r.version, r.concurrency, r.canaries, r.stop_after_failures, r.state,
  r.created_at, r.ended_at, n.counts`;
const counted = sql`
  lateral (
    select jsonb_build_object(
      'waiting', count(*) filter (where state = 'waiting'), 'running', count(*) filter (where state = 'running'),
      'updated', count(*) filter (where state = 'updated'), 'failed', count(*) filter (where state = 'failed'),
      'skipped', count(*) filter (where state = 'skipped')) as counts
    from rollout_items where rollout_id = r.id
  ) n`;

/** The newest first. */
export async function listRollouts(
  database: Database,
  companyId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly total: number; readonly items: readonly RolloutRecord[] }> {
  const [{ rows: items }, { rows: totals }] = await Promise.all([
    sql<RolloutRecord>`
      select ${recordColumns} from rollouts r, ${counted} where r.company_id = ${companyId}
      order by r.created_at desc, r.id limit ${limit} offset ${offset}`.execute(database),
    sql<{ total: number }>`select count(*)::int as total from rollouts where company_id = ${companyId}`.execute(
      database,
    ),
  ]);
  return { total: totals[0]?.total ?? 0, items };
}

/** Null where the company has none of that id. */
export async function findRollout(
  database: Database | DatabaseTransaction,
  companyId: string,
  id: string,
): Promise<RolloutRecord | null> {
  const { rows } = await sql<RolloutRecord>`
    select ${recordColumns} from rollouts r, ${counted} where r.id = ${id} and r.company_id = ${companyId}`.execute(
    database,
  );
  return rows[0] ?? null;
}

export interface RolloutItemRecord {
  readonly id: string;
  readonly display_name: string;
  readonly site_display_name: string;
  readonly is_canary: boolean;
  readonly state: RolloutItemState;
  readonly version: string | null;
  readonly update_version: string | null;
  readonly operation_id: string | null;
  readonly reason: string | null;
  readonly ended_at: Date | null;
}

/** In the order in which they get it. Environments that were deleted since are missing. */
export async function itemsOfRollout(
  database: Database | DatabaseTransaction,
  id: string,
): Promise<readonly RolloutItemRecord[]> {
  const { rows } = await sql<RolloutItemRecord>`
    select e.id, e.display_name, s.display_name as site_display_name, i.is_canary, i.state,
      i.from_version as version, i.to_version as update_version, i.operation_id, i.reason, i.ended_at
    from rollout_items i join environments e on e.id = i.environment_id join sites s on s.id = e.site_id
    where i.rollout_id = ${id} order by i.position`.execute(database);
  return rows;
}

/** Ids; the one that was asked for first comes first. */
export async function rolloutsUnderWay(database: Database): Promise<readonly string[]> {
  const query = database.selectFrom("rollouts").select("id").where("ended_at", "is", null);
  return (await query.orderBy("created_at").execute()).map(({ id }) => id);
}

/** What is to be known of one that is under way, to go on with it. */
export interface RolloutUnderWay extends RolloutFacts {
  readonly actor: Actor;
}

/** Nobody else goes on with it until the transaction ends. Null where there is none under way. */
export async function holdRollout(transaction: DatabaseTransaction, id: string): Promise<RolloutUnderWay | null> {
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

const forgotten = "What became of it is not known any more.";

/** Takes over what became of the operations that were begun for it. */
export async function noteEndedItems(transaction: DatabaseTransaction, rolloutId: string): Promise<void> {
  await sql`
    update rollout_items i set ended_at = coalesce(n.finished_at, now()),
      state = case when n.state = 'succeeded' then 'updated' else 'failed' end,
      reason = case when n.state is null then ${forgotten} else n.public_error end
    from (
      select j.environment_id, o.state, o.public_error, o.finished_at
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
  /** Of those that failed. */
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

/** Id of the environment whose turn it is; null: all have had theirs. */
export async function nextInTurn(transaction: DatabaseTransaction, rolloutId: string): Promise<string | null> {
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

export interface Turn {
  readonly environmentId: string;
  /** Whether all others wait for what becomes of it. */
  readonly isCanary: boolean;
  /** The operation that was begun, or why none was. */
  readonly become: BegunItem | { readonly skipped: string };
}

export async function noteTurn(
  transaction: DatabaseTransaction,
  rolloutId: string,
  { environmentId, isCanary, become }: Turn,
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

/** Nothing more is begun; what was begun goes on. */
export async function breakOff(
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

/** Its last update has ended. */
export async function endRollout(transaction: DatabaseTransaction, { id, state }: RolloutUnderWay): Promise<void> {
  await transaction
    .updateTable("rollouts")
    .set({ state: state === "running" ? "ended" : state, ended_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
}

/** Those that ended more than `days` ago. */
export async function deleteEndedRollouts(database: Database, days: number): Promise<void> {
  await database
    .deleteFrom("rollouts")
    .where("ended_at", "<", sql<Date>`now() - make_interval(days => ${days}::int)`)
    .execute();
}
