/** Rollouts of newer versions to many environments: their input and their display. */
import { sql } from "kysely";
import type { Actor, Database, DatabaseTransaction, PackageKind, RolloutItemState, RolloutState } from "../database.ts";
import { totalOf } from "../totals.ts";
import { canBeUpdated } from "./packageUpdates.ts";

interface NewRollout {
  readonly id: string;
  readonly companyId: string;
  readonly kind: PackageKind;
  readonly name: string;
  /** Null for the newest version offered to each environment. */
  readonly version: string | null;
  readonly concurrency: number;
  readonly stopAfterFailures: number;
  readonly actor: Actor;
  /** In order of their updates. */
  readonly environmentIds: readonly string[];
  /** Number of environments to update before the others. */
  readonly canaries: number;
}

/** Inserts a rollout. Skips environments that have been deleted meanwhile. */
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

/** An environment in which the package can be updated. */
interface Holder {
  readonly id: string;
  readonly version_key: string;
  readonly update_version: string | null;
}

/**
 * Finds served environments of the company in which the package can be updated: live ones last, then by site and name.
 */
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

/** Returns the ids that are environments of the company. */
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

export interface RolloutFacts {
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
const withCounts = sql`
  lateral (
    select jsonb_build_object(
      'waiting', count(*) filter (where state = 'waiting'), 'running', count(*) filter (where state = 'running'),
      'updated', count(*) filter (where state = 'updated'), 'failed', count(*) filter (where state = 'failed'),
      'skipped', count(*) filter (where state = 'skipped')) as counts
    from rollout_items where rollout_id = r.id
  ) n`;

/** Lists rollouts, newest first. */
export async function listRollouts(
  database: Database,
  companyId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly total: number; readonly items: readonly RolloutRecord[] }> {
  const { rows: items } = await sql<RolloutRecord>`
    select ${recordColumns} from rollouts r, ${withCounts} where r.company_id = ${companyId}
    order by r.created_at desc, r.id limit ${limit} offset ${offset}`.execute(database);
  const counted = sql<{ total: number }>`select count(*)::int as total from rollouts where company_id = ${companyId}`;
  const total = await totalOf(
    { limit, offset },
    items,
    async () => (await counted.execute(database)).rows[0]?.total ?? 0,
  );
  return { total, items };
}

/** Returns null if the company has no such rollout. */
export async function findRollout(
  database: Database | DatabaseTransaction,
  companyId: string,
  id: string,
): Promise<RolloutRecord | null> {
  const { rows } = await sql<RolloutRecord>`
    select ${recordColumns} from rollouts r, ${withCounts} where r.id = ${id} and r.company_id = ${companyId}`.execute(
    database,
  );
  return rows[0] ?? null;
}

export interface RolloutItemRecord {
  readonly id: string;
  readonly display_name: string;
  readonly site_id: string;
  readonly site_display_name: string;
  readonly is_canary: boolean;
  readonly state: RolloutItemState;
  readonly version: string | null;
  readonly update_version: string | null;
  readonly operation_id: string | null;
  readonly reason: string | null;
  readonly ended_at: Date | null;
}

/** Lists the rollout's environments in order of their updates, without deleted ones. */
export async function itemsOfRollout(
  database: Database | DatabaseTransaction,
  id: string,
): Promise<readonly RolloutItemRecord[]> {
  const { rows } = await sql<RolloutItemRecord>`
    select e.id, e.display_name, e.site_id, s.display_name as site_display_name, i.is_canary, i.state,
      i.from_version as version, i.to_version as update_version, i.operation_id, i.reason, i.ended_at
    from rollout_items i join environments e on e.id = i.environment_id join sites s on s.id = e.site_id
    where i.rollout_id = ${id} order by i.position`.execute(database);
  return rows;
}

/** Deletes rollouts that ended more than `days` days ago. */
export async function deleteEndedRollouts(database: Database, days: number): Promise<void> {
  await database
    .deleteFrom("rollouts")
    .where("ended_at", "<", sql<Date>`now() - make_interval(days => ${days}::int)`)
    .execute();
}
