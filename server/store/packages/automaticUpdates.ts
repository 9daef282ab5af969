/** Automatic updates: settings of environments, and which updates are due. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, PackageKind } from "../database.ts";
import { canBeUpdated } from "./packageUpdates.ts";
import { lockPackageWrites } from "./packageWriteLock.ts";

export interface AutomaticUpdateSettings {
  readonly plugins: boolean;
  readonly themes: boolean;
  /** Update vulnerable packages within this time; null to not treat them specially. */
  readonly vulnerable_within_hours: number | null;
  /** Slugs of packages that are not updated. */
  readonly except_names: readonly string[];
  /** Days of the week; 0 is Sunday. */
  readonly days: readonly number[];
  /** Minutes after midnight. */
  readonly start_minute: number;
  readonly hours: number;
  /** Such as `Europe/Berlin`. */
  readonly time_zone: string;
}

/** When updates may start. */
type StoredWindow = Pick<AutomaticUpdateSettings, "days" | "start_minute" | "hours" | "time_zone">;

const settingColumns = [
  "plugins",
  "themes",
  "vulnerable_within_hours",
  "except_names",
  "days",
  "start_minute",
  "hours",
  "time_zone",
] as const satisfies readonly (keyof AutomaticUpdateSettings)[];

/** Returns null if there is no such environment. `settings` is null if automatic updates are not configured. */
export async function findAutomaticUpdates(
  database: Database,
  environmentId: string,
): Promise<{ readonly id: string; readonly settings: AutomaticUpdateSettings | null } | null> {
  const environment = await database
    .selectFrom("environments")
    .select("id")
    .where("id", "=", environmentId)
    .where("state", "<>", "adding")
    .executeTakeFirst();
  if (environment === undefined) return null;
  const query = database.selectFrom("automatic_updates").select([...settingColumns]);
  const settings = (await query.where("environment_id", "=", environmentId).executeTakeFirst()) ?? null;
  return { id: environment.id, settings };
}

export async function setAutomaticUpdates(
  transaction: DatabaseTransaction,
  environmentId: string,
  settings: AutomaticUpdateSettings,
): Promise<void> {
  await lockPackageWrites(transaction);
  const row = { ...settings, except_names: [...settings.except_names], days: [...settings.days] };
  await transaction
    .insertInto("automatic_updates")
    .values({ environment_id: environmentId, ...row })
    .onConflict((conflict) => conflict.column("environment_id").doUpdateSet(row))
    .execute();
  await markManaged(transaction, environmentId);
}

/** Marks each installed package as included in automatic updates or not. */
export async function markManaged(transaction: DatabaseTransaction, environmentId: string): Promise<void> {
  await sql`
    update packages p set is_managed = n.is_managed from (
      select p.kind, p.name, coalesce(${canBeUpdated} and p.name <> all(a.except_names)
        and case p.kind when 'plugin' then a.plugins else a.themes end, false) as is_managed
      from packages p left join automatic_updates a on a.environment_id = p.environment_id
      where p.environment_id = ${environmentId}) n
    where p.environment_id = ${environmentId} and (p.kind, p.name) = (n.kind, n.name)
      and p.is_managed <> n.is_managed`.execute(transaction);
}

/** A package with an available update. */
export interface DueUpdate {
  readonly kind: PackageKind;
  readonly name: string;
  /** Null if it is not vulnerable, or if the environment does not update vulnerable packages. */
  readonly vulnerable_since: Date | null;
  /** The number of packages in the last attempt if it failed, or null. */
  readonly tried_among: number | null;
}

export interface DueEnvironment {
  readonly id: string;
  readonly companyId: string;
  /** Whether no automatic update of its company is running. */
  readonly isCompanyIdle: boolean;
  readonly window: StoredWindow;
  readonly vulnerable_within_hours: number | null;
  readonly updates: readonly DueUpdate[];
}

interface DueRow extends StoredWindow {
  readonly id: string;
  readonly company_id: string;
  readonly is_company_idle: boolean;
  readonly vulnerable_within_hours: number | null;
  readonly updates: readonly (Omit<DueUpdate, "vulnerable_since"> & { readonly vulnerable_since: string | null })[];
}

/** Days until a package whose update failed on its own is retried. */
const retryRefusedDays = { usual: 7, vulnerable: 1 };
/**
 * Minutes until updates that failed for another reason are retried; `urgent` near the deadline for vulnerable packages.
 */
const retryHinderedMinutes = { usual: 60, urgent: 10 };

/**
 * Finds environments with due updates and no running or waiting operation, those with vulnerable packages first. A
 * vulnerable version only replaces a version that is vulnerable too.
 */
export async function findDueUpdates(database: Database): Promise<readonly DueEnvironment[]> {
  const { rows } = await sql<DueRow>`
    select e.id, e.company_id, ${runningOfCompany} = 0 as is_company_idle, a.days, a.start_minute, a.hours, a.time_zone, a.vulnerable_within_hours,
      json_agg(json_build_object(
        'kind', p.kind, 'name', p.name,
        'vulnerable_since', case when p.is_vulnerable and a.vulnerable_within_hours is not null then p.vulnerable_since end,
        'tried_among', coalesce(case when p.failed_version = p.update_version then p.failed_among end, p.hindered_among)
      ) order by p.kind, p.name) as updates
    from automatic_updates a join environments e on e.id = a.environment_id join packages p on p.environment_id = e.id
    where e.state = 'serving' and not e.awaits_rebuild and p.update_version is not null and ${canBeUpdated}
      and p.name <> all(a.except_names) and (p.is_vulnerable or not p.is_update_vulnerable)
      and (p.is_managed or (p.is_vulnerable and not p.is_update_vulnerable and a.vulnerable_within_hours is not null))
      and (p.failed_version is distinct from p.update_version or p.failed_among > 1
        or p.failed_at < now() - make_interval(
          days => case when p.is_vulnerable then ${retryRefusedDays.vulnerable}::int else ${retryRefusedDays.usual}::int end))
      and (p.hindered_at is null or p.hindered_at < now() - make_interval(mins => case
        when p.vulnerable_since + make_interval(hours => a.vulnerable_within_hours)
          < now() + make_interval(mins => ${retryHinderedMinutes.usual}::int)
        then ${retryHinderedMinutes.urgent}::int else ${retryHinderedMinutes.usual}::int end))
      and not exists (select from operations o where o.environment_id = e.id and o.state in ('waiting', 'running'))
    group by e.id, a.environment_id
    order by row_number() over (partition by e.company_id order by bool_or(p.is_vulnerable) desc, e.number)
      + ${runningOfCompany}, bool_or(p.is_vulnerable) desc, e.number`.execute(database);
  return rows.map(({ id, company_id, is_company_idle, vulnerable_within_hours, updates, ...window }) => ({
    id,
    companyId: company_id,
    isCompanyIdle: is_company_idle,
    vulnerable_within_hours,
    window,
    updates: updates.map(({ vulnerable_since: since, ...update }) => ({
      ...update,
      vulnerable_since: since === null ? null : new Date(since),
    })),
  }));
}

/** SQL: waiting and running operations of automatic updates, without those started by users or API keys. */
const automaticOperations = sql`
  operations o join activity a on a.id = o.activity_id
    and o.kind in ('updatePlugin', 'updatePlugins', 'updateTheme', 'updateThemes') and o.state in ('waiting', 'running')
    and a.user_id is null and a.api_key_id is null`;

/** SQL expression: the number of running automatic updates of the company of the environment `e`. */
const runningOfCompany = sql`(select count(*) from ${automaticOperations} where o.company_id = e.company_id)`;

/** Counts waiting and running operations of automatic updates. */
export async function countAutomaticOperations(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ${automaticOperations}`.execute(database);
  return rows[0]?.count ?? 0;
}
