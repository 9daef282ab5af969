/** Environments and their domains. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, MailDelivery } from "../database.ts";
import { lockPackageWrites } from "../packages/packageWriteLock.ts";

/** An environment, built as JSON by the database together with its site. */
export interface EnvironmentRecord {
  readonly id: string;
  readonly number: number;
  readonly name: string;
  readonly display_name: string;
  readonly is_premium: boolean;
  readonly is_blocked: boolean;
  readonly is_opt_out_from_automatic_php_update: boolean;
  readonly wordpress_version: string | null;
  readonly php_version: string;
  readonly container_id: string;
  readonly domains: readonly DomainRecord[];
}

export interface DomainRecord {
  readonly id: string;
  readonly name: string;
  readonly is_active: boolean;
  readonly is_primary: boolean;
  /** Whether WordPress uses HTTPS for it. */
  readonly is_https: boolean;
}

/**
 * SQL expression: the visible environments of the site `s`, as a JSON array for `environmentsFrom`. Arrays without the names of
 * fields take a quarter less time to build and to read than objects.
 */
export const environmentsOfSite = `(
  select coalesce(json_agg(json_build_array(
    e.id, e.number, e.name, e.display_name, e.is_premium,
    e.awaits_rebuild or exists (select from environment_locks l where l.environment_id = e.id),
    e.is_opt_out_from_automatic_php_update, e.wordpress_version, e.php_version, e.container_id, (
      select coalesce(json_agg(json_build_array(d.id, d.name, d.is_active, d.is_primary, d.is_https)
        order by d.is_primary desc, d.created_at, length(d.name), d.id), '[]'::json)
      from domains d where d.environment_id = e.id)
  ) order by e.created_at, e.number), '[]'::json)
  from environments e where e.site_id = s.id and e.state <> 'adding')`;

type DomainValues = readonly [id: string, name: string, isActive: boolean, isPrimary: boolean, isHttps: boolean];

/** In the order of `environmentsOfSite`. */
export type EnvironmentValues = readonly [
  id: string,
  number: number,
  name: string,
  displayName: string,
  isPremium: boolean,
  isBlocked: boolean,
  isOptOut: boolean,
  wordpressVersion: string | null,
  phpVersion: string,
  containerId: string,
  domains: readonly DomainValues[],
];

/** Reads the value of `environmentsOfSite`. */
export function environmentsFrom(values: readonly EnvironmentValues[]): readonly EnvironmentRecord[] {
  return values.map((each) => ({
    id: each[0],
    number: each[1],
    name: each[2],
    display_name: each[3],
    is_premium: each[4],
    is_blocked: each[5],
    is_opt_out_from_automatic_php_update: each[6],
    wordpress_version: each[7],
    php_version: each[8],
    container_id: each[9],
    domains: each[10].map((domain) => ({
      id: domain[0],
      name: domain[1],
      is_active: domain[2],
      is_primary: domain[3],
      is_https: domain[4],
    })),
  }));
}

interface NewEnvironment {
  readonly id: string;
  readonly siteId: string;
  readonly companyId: string;
  readonly name: string;
  readonly displayName: string;
  readonly isPremium: boolean;
  /** Name of its runtime. */
  readonly runtime: string;
  readonly phpVersion: string;
  readonly containerId: string;
  /** Default: depends on the type of environment. */
  readonly mailDelivery?: MailDelivery;
}

/**
 * Returns the environment's number, which is unique in this installation, and used again only long after the environment is
 * gone; null if the site has an environment of that name or display name.
 */
export async function insertEnvironment(
  transaction: DatabaseTransaction,
  environment: NewEnvironment,
): Promise<number | null> {
  const { id, siteId, companyId, name, displayName, isPremium, runtime, phpVersion, containerId, mailDelivery } =
    environment;
  // Looks for the names first, because an insert that conflicts has already taken a number.
  const { rows } = await sql<{ number: number }>`
    insert into environments (id, site_id, company_id, name, display_name, is_premium, runtime, php_version, container_id,
      mail_delivery, state)
    select ${id}::uuid, ${siteId}::uuid, ${companyId}::uuid, ${name}, ${displayName}, ${isPremium}::boolean, ${runtime},
      ${phpVersion}, ${containerId}::uuid, ${mailDelivery ?? null}, 'adding'
    where not exists (
      select from environments
      where site_id = ${siteId} and (name = ${name} or lower(display_name) = lower(${displayName})))
    on conflict do nothing returning number`.execute(transaction);
  return rows[0]?.number ?? null;
}

/** Reserves a number for an environment without a row, which the transaction must add to the input of an operation. */
export async function nextEnvironmentNumber(transaction: DatabaseTransaction): Promise<number> {
  const { rows } = await sql<{ number: number }>`select next_environment_number() as number`.execute(transaction);
  return Number(rows[0]?.number);
}

export async function isEnvironmentNameTaken(
  transaction: DatabaseTransaction,
  siteId: string,
  displayName: string,
): Promise<boolean> {
  const taken = await transaction
    .selectFrom("environments")
    .select("id")
    .where("site_id", "=", siteId)
    .where((where) => where(where.fn("lower", ["display_name"]), "=", where.fn("lower", [where.val(displayName)])))
    .executeTakeFirst();
  return taken !== undefined;
}

/** Whether the environment exists. Locks it until the transaction ends. */
export async function environmentExists(transaction: DatabaseTransaction, environmentId: string): Promise<boolean> {
  const row = await transaction
    .selectFrom("environments")
    .select("id")
    .where("id", "=", environmentId)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** Removes the environment and its domains. Its activity log stays. */
export async function removeEnvironmentRows(transaction: DatabaseTransaction, environmentId: string): Promise<void> {
  // Its packages are deleted with it.
  await lockPackageWrites(transaction);
  await transaction.deleteFrom("environments").where("id", "=", environmentId).execute();
}

interface ListedEnvironment {
  readonly id: string;
  readonly company_name: string;
  readonly site_name: string;
  readonly environment_name: string;
  readonly state: string;
  readonly host: string;
  readonly is_https: boolean;
  readonly php_version: string;
  /** Null if it has no WordPress. */
  readonly wordpress_version: string | null;
  /** Null if not measured yet. */
  readonly disk_bytes: number | null;
  /** Null if never. */
  readonly backed_up_at: Date | null;
}

/** Lists the environments of all companies, by company, site and age. */
export async function listAllEnvironments(database: Database): Promise<ListedEnvironment[]> {
  const { rows } = await sql<ListedEnvironment>`
    select e.id, c.name as company_name, s.display_name as site_name, e.display_name as environment_name, e.state,
      d.name as host, d.is_https, e.php_version, e.wordpress_version, e.disk_bytes::float8 as disk_bytes,
      (select max(b.created_at) from backups b where b.environment_id = e.id and b.manifest is not null) as backed_up_at
    from environments e join sites s on s.id = e.site_id join companies c on c.id = e.company_id
      join domains d on d.environment_id = e.id and d.is_primary
    order by c.name, s.display_name, s.id, e.created_at, e.number`.execute(database);
  return rows;
}

export interface NamedEnvironment {
  readonly id: string;
  readonly companyId: string;
  readonly siteId: string;
  readonly siteName: string;
  readonly environmentName: string;
}

/** Lists environments of the native runtime with one of these versions of PHP, with display names. */
export function listNativeOnPhp(database: Database, versions: readonly string[]): Promise<NativeEnvironment[]> {
  return database
    .selectFrom("environments")
    .innerJoin("sites", "sites.id", "environments.site_id")
    .innerJoin("companies", "companies.id", "environments.company_id")
    .select(["companies.name as companyName", "sites.display_name as siteName"])
    .select("environments.display_name as environmentName")
    .where("environments.runtime", "=", "native")
    .where("environments.php_version", "in", versions)
    .orderBy("companies.name")
    .orderBy("sites.display_name")
    .orderBy("environments.number")
    .execute();
}

export interface NativeEnvironment {
  readonly companyName: string;
  readonly siteName: string;
  readonly environmentName: string;
}

/** Lists environments with the display names of their sites. */
export function listNamed(database: Database, ids: readonly string[]): Promise<NamedEnvironment[]> {
  return database
    .selectFrom("environments")
    .innerJoin("sites", "sites.id", "environments.site_id")
    .select(["environments.id", "environments.company_id as companyId", "environments.site_id as siteId"])
    .select(["sites.display_name as siteName", "environments.display_name as environmentName"])
    .where("environments.id", "in", ids)
    .execute();
}
