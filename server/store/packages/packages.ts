/** Plugins and themes of environments. */
import { sql } from "kysely";
import type { Database, PackageKind, UpdateStatus } from "../database.ts";
import { markManaged } from "./automaticUpdates.ts";
import { addOffers } from "./packageOffers.ts";
import { lockPackageWrites } from "./packageWriteLock.ts";

/** A package found when reading an environment. */
export interface FoundPackage {
  readonly kind: PackageKind;
  readonly name: string;
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly version_key: string;
  readonly is_elsewhere: boolean;
  readonly is_active: boolean;
  readonly is_auto_updated: boolean;
}

interface FoundPackages {
  readonly packages: readonly FoundPackage[];
  readonly problem: string | null;
  /** When the reading started, by the database's clock. */
  readonly readAt: Date;
}

export interface ToRead {
  readonly id: string;
  readonly companyId: string;
  readonly number: number;
}

interface DueForReading extends ToRead {
  /** The last reading, if it is due only because that is long ago; otherwise null. */
  readonly lastReadAt: Date | null;
}

/** Environments are read again after this time even without known changes. */
const maxAgeMinutes = 60;
/** Minimum time between readings because of writes by PHP: sites write often, but seldom about plugins. */
const minWrittenSeconds = 300;

/** Kinds of operations that only read an environment, or don't touch it. */
const unchangingKinds = [
  "addManualBackup",
  "addScheduledBackup",
  "addDownloadableBackup",
  "removeBackup",
  "proveBackup",
  "comparePush",
  "compareRestore",
  "previewSearchAndReplace",
];

/**
 * SQL: environments that an operation has changed since their packages were read. Of older operations, the changed files show
 * it. Unlike a condition on each environment, it reads each operation once.
 */
const changedByOperation = sql`
  select o.environment_id from operations o join environments oe on oe.id = o.environment_id
  where o.environment_id is not null and o.finished_at > now() - make_interval(mins => ${maxAgeMinutes})
    and o.finished_at > oe.packages_read_at and o.kind not in (${sql.join(unchangingKinds)})`;

/** SQL expression: whether `e` has packages that can be read. */
const isReadable = sql<boolean>`(
  e.state = 'serving' and not e.awaits_rebuild and e.wordpress_version is not null)`;

/**
 * Finds environments whose packages must be read: never read, changed by an operation or PHP since, or last read long
 * ago. Longest waiting first.
 */
export async function findDueForReading(database: Database, limit: number): Promise<readonly DueForReading[]> {
  const { rows } = await sql<DueForReading>`
    select e.id, e.company_id as "companyId", e.number,
      case when e.packages_read_at < now() and e.packages_problem is null
        and coalesce(e.written_at <= e.packages_read_at, true)
        and e.id not in (${changedByOperation})
        then e.packages_read_at end as "lastReadAt"
    from environments e
    where ${isReadable} and (
      e.packages_read_at is null or e.packages_read_at > now()
      or e.packages_read_at < now() - make_interval(mins => ${maxAgeMinutes})
      or (e.written_at > e.packages_read_at and e.packages_read_at < now() - make_interval(secs => ${minWrittenSeconds}))
      or e.id in (${changedByOperation}))
    order by e.packages_read_at nulls first, e.number limit ${limit}`.execute(database);
  return rows;
}

/** Finds environments that were never read or that an operation has changed since. Does not look at the others. */
export async function findNewForReading(database: Database, limit: number): Promise<readonly ToRead[]> {
  const { rows } = await sql<ToRead>`
    select e.id, e.company_id as "companyId", e.number from environments e
    where ${isReadable} and e.id in (
      select id from environments where packages_read_at is null union all ${changedByOperation})
    order by e.packages_read_at nulls first, e.number limit ${limit}`.execute(database);
  return rows;
}

/** Finds environments of a company, or one environment, whose packages were never read. */
export async function findUnread(
  database: Database,
  scope:
    | { readonly companyId: string; readonly siteIds: readonly string[] | null }
    | { readonly environmentId: string },
  limit: number,
): Promise<readonly ToRead[]> {
  const query = database
    .selectFrom("environments")
    .select(["id", "company_id as companyId", "number"])
    .where("packages_read_at", "is", null)
    .where("state", "=", "serving")
    .where("awaits_rebuild", "=", false)
    .where("wordpress_version", "is not", null)
    .orderBy("number")
    .limit(limit);
  if ("environmentId" in scope) return query.where("id", "=", scope.environmentId).execute();
  const all = query.where("company_id", "=", scope.companyId);
  return scope.siteIds === null
    ? all.execute()
    : all.where(({ eb, fn, val }) => eb("site_id", "=", fn.any(val([...(scope.siteIds ?? [])])))).execute();
}

/**
 * Replaces the known packages of an environment, but keeps results of updates. Does nothing if the environment is gone
 * or a later reading is already stored.
 */
export async function notePackages(database: Database, environmentId: string, found: FoundPackages): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await lockPackageWrites(transaction);
    const environment = await transaction
      .updateTable("environments")
      .set({ packages_read_at: found.readAt, packages_problem: found.problem })
      .where("id", "=", environmentId)
      .where(({ or, eb }) => or([eb("packages_read_at", "is", null), eb("packages_read_at", "<=", found.readAt)]))
      .returning(["company_id", "site_id"])
      .executeTakeFirst();
    if (environment === undefined) return;
    await sql`
      delete from packages p where p.environment_id = ${environmentId} and not exists (
        select from jsonb_to_recordset(${JSON.stringify(found.packages)}::jsonb) as n(kind text, name text)
        where n.kind = p.kind and n.name = p.name)`.execute(transaction);
    await sql`
      insert into packages (environment_id, company_id, site_id, ${columns})
      select ${environmentId}::uuid, ${environment.company_id}::uuid, ${environment.site_id}::uuid, ${columns}
      from jsonb_to_recordset(${JSON.stringify(found.packages)}::jsonb) as n(
        kind text, name text, file text, title text, description text, version text, version_key text,
        is_elsewhere boolean, is_active boolean, is_auto_updated boolean)
      on conflict (environment_id, kind, name) do update set ${assignments}
      where (${columnsOf("packages")}) is distinct from (${columnsOf("excluded")})`.execute(transaction);
    await addOffers(
      transaction,
      found.packages.map(({ kind, file }) => ({ kind, file })),
    );
    await markManaged(transaction, environmentId);
  });
}

/** Records that nothing has changed since the last reading. Does nothing for environments that were read later. */
export async function notePackagesUnchanged(
  database: Database,
  environmentIds: readonly string[],
  readAt: Date,
): Promise<void> {
  await database
    .updateTable("environments")
    .set({ packages_read_at: readAt })
    .where("id", "in", [...environmentIds])
    .where("packages_read_at", "<", readAt)
    .execute();
}

const columnNames = [
  "kind",
  "name",
  "file",
  "title",
  "description",
  "version",
  "version_key",
  "is_elsewhere",
  "is_active",
  "is_auto_updated",
] as const satisfies readonly (keyof FoundPackage)[];
const columns = sql.raw(columnNames.join(", "));
const assignments = sql.raw(columnNames.map((name) => `${name} = excluded.${name}`).join(", "));
const columnsOf = (table: string) => sql.raw(columnNames.map((name) => `${table}.${name}`).join(", "));

/** A package of an environment. */
export interface PackageRecord {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly is_active: boolean;
  readonly is_auto_updated: boolean;
  readonly is_managed: boolean;
  readonly update_version: string | null;
  readonly update_status: UpdateStatus | null;
  readonly is_vulnerable: boolean;
  readonly is_update_vulnerable: boolean;
}

interface PackagesOfEnvironment {
  readonly container_id: string;
  /** Null if never read. */
  readonly read_at: Date | null;
  readonly problem: string | null;
  readonly packages: readonly PackageRecord[];
}

/** Returns the environment's packages by name, or null if there is no such environment. */
export async function packagesOf(
  database: Database,
  environmentId: string,
  kind: PackageKind,
): Promise<PackagesOfEnvironment | null> {
  const environment = await database
    .selectFrom("environments")
    .select(["container_id", "packages_read_at as read_at", "packages_problem as problem"])
    .where("id", "=", environmentId)
    .where("state", "<>", "adding")
    .executeTakeFirst();
  if (environment === undefined) return null;
  const packages = await database
    .selectFrom("packages")
    .select(["name", "title", "description", "version", "is_active", "is_auto_updated", "is_managed"])
    .select(["update_version", "update_status", "is_vulnerable", "is_update_vulnerable"])
    .where("environment_id", "=", environmentId)
    .where("kind", "=", kind)
    .orderBy("name")
    .execute();
  return { ...environment, packages };
}
