/**
 * The limits of companies. Only the operator sets them: for one company, or for all companies that have none of their own.
 * Null is no limit.
 */
import { type RawBuilder, sql } from "kysely";
import type { Pool } from "pg";
import type { Database, DatabaseTransaction } from "../database.ts";
import { edgeGenerations } from "../generations.ts";

const columns = [
  "sites",
  "environments",
  "domains",
  "disk_bytes",
  "php_threads",
  "php_memory_mb",
  "api_keys",
  "mail_recipients_per_hour",
] as const;

export type CompanyLimit = (typeof columns)[number];
export type CompanyLimits = Readonly<Record<CompanyLimit, number | null>>;

/** As long as the operator has set none. */
const initialLimits: CompanyLimits = {
  sites: null,
  environments: null,
  domains: 1000,
  disk_bytes: null,
  php_threads: null,
  php_memory_mb: null,
  api_keys: 100,
  mail_recipients_per_hour: null,
};

/** Returns the limits in force. */
export async function companyLimits(
  database: Database | DatabaseTransaction,
  companyId: string,
): Promise<CompanyLimits> {
  const found = await database
    .selectFrom("limits_of_companies")
    .select(columns)
    .where("company_id", "=", companyId)
    .executeTakeFirst();
  return found ?? initialLimits;
}

/** What a company has, or uses. */
export interface CompanyUse {
  readonly sites: number;
  readonly environments: number;
  /** Without the temporary ones that each environment has. */
  readonly domains: number;
  /** The size of its environments when they were last measured, its backups and its downloadable backups. */
  readonly disk_bytes: number;
  /** Keys that are neither revoked nor expired. */
  readonly api_keys: number;
}

const useColumns = `
  (select count(*)::integer from sites where company_id = $1) as sites,
  (select count(*)::integer from environments where company_id = $1) as environments,
  (select count(*)::integer from domains where company_id = $1 and setup_type <> 'temporary') as domains,
  coalesce((select bytes from disk_of_companies where company_id = $1), 0) as disk_bytes,
  (select count(*)::integer from api_keys where company_id = $1 and kind = 'key' and revoked_at is null
    and (expires_at is null or expires_at > now())) as api_keys`;

/** Returns the limits in force and the use. Sites and environments count from the request that adds them. */
export async function findCompanyLimits(
  pool: Pool,
  companyId: string,
): Promise<{ readonly limits: CompanyLimits; readonly use: CompanyUse }> {
  const { rows } = await pool.query<CompanyUse>({
    name: "company-use",
    text: `select ${useColumns}`,
    values: [companyId],
  });
  const limits = await pool.query<CompanyLimits>({
    name: "company-limits",
    text: `select ${columns.join(", ")} from limits_of_companies where company_id = $1`,
    values: [companyId],
  });
  const [use] = rows;
  if (use === undefined) throw new Error("PostgreSQL returned no row");
  return { limits: limits.rows[0] ?? initialLimits, use };
}

/** Lets one transaction at a time count what the company has before it adds more. */
export async function lockCompany(transaction: DatabaseTransaction, companyId: string): Promise<void> {
  await transaction
    .selectFrom("companies")
    .select("id")
    .where("id", "=", companyId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Returns the disk limit of the environment's company and how much of it is used, or null if it has no such limit. */
export async function diskOfCompany(
  database: Database,
  environmentId: string,
): Promise<{ readonly limitBytes: number; readonly usedBytes: number } | null> {
  const row = await database
    .selectFrom("environments as e")
    .innerJoin("limits_of_companies as c", "c.company_id", "e.company_id")
    .select(["c.disk_bytes as limitBytes", "c.disk_used_bytes as usedBytes"])
    .where("e.id", "=", environmentId)
    .executeTakeFirst();
  return row === undefined || row.limitBytes === null ? null : { ...row, limitBytes: row.limitBytes };
}

/** Which rows of a table count. */
const counted = {
  sites: sql`true`,
  environments: sql`true`,
  domains: sql`setup_type <> 'temporary'`,
  api_keys: sql`revoked_at is null and (expires_at is null or expires_at > now())`,
} as const;

/** Counts the sites, environments, added domains or usable keys of a company. */
export async function countOf(
  transaction: DatabaseTransaction,
  companyId: string,
  limit: keyof typeof counted,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from ${sql.table(limit)} where company_id = ${companyId}
      and ${counted[limit]}
  `.execute(transaction);
  return rows[0]?.count ?? 0;
}

/** Returns the limits that the company has of its own, or null. `companyId` null: those of all others. */
export async function ownCompanyLimits(
  database: Database | DatabaseTransaction,
  companyId: string | null,
): Promise<CompanyLimits | null> {
  const found = await database
    .selectFrom("company_limits")
    .select(columns)
    .where("company_id", companyId === null ? "is" : "=", companyId)
    .executeTakeFirst();
  return found ?? null;
}

/** Returns the limits of all companies that have none of their own. */
export async function commonLimits(database: Database | DatabaseTransaction): Promise<CompanyLimits> {
  return (await ownCompanyLimits(database, null)) ?? initialLimits;
}

/**
 * Sets some limits of a company, whose others stay as they are in force, and publishes them. `companyId` null: of all
 * companies that have none of their own.
 */
export async function setCompanyLimits(
  transaction: DatabaseTransaction,
  companyId: string | null,
  changes: Partial<CompanyLimits>,
): Promise<void> {
  const inForce = (await ownCompanyLimits(transaction, companyId)) ?? (await commonLimits(transaction));
  await deleteRow(transaction, companyId);
  const row = { ...inForce, ...changes, company_id: companyId };
  await transaction.insertInto("company_limits").values(row).execute();
  await edgeGenerations.announce(transaction);
}

/** Removes a company's own limits, so that the common ones apply to it, and publishes that. */
export async function removeCompanyLimits(transaction: DatabaseTransaction, companyId: string | null): Promise<void> {
  await deleteRow(transaction, companyId);
  await edgeGenerations.announce(transaction);
}

async function deleteRow(transaction: DatabaseTransaction, companyId: string | null): Promise<void> {
  await transaction
    .deleteFrom("company_limits")
    .where("company_id", companyId === null ? "is" : "=", companyId)
    .execute();
}

/** SQL expressions of the limits in force in an environment, which never has more than its company. */
export interface LimitsInForce {
  readonly threads: RawBuilder<number>;
  readonly memoryMb: RawBuilder<number>;
  /** The largest size that the environment may have, considering the company's others; null for no limit. */
  readonly quotaBytes: RawBuilder<number | null>;
}

/**
 * Returns the limits in force in a row of `environments e` that is joined with `limits_of_companies c`. A company without a
 * disk limit can't raise the installation's default quota.
 */
export function limitsInForce(defaultQuotaBytes: number | null): LimitsInForce {
  const initial = sql`${defaultQuotaBytes}::bigint`;
  return {
    threads: sql<number>`least(e.php_threads, c.php_threads)`,
    memoryMb: sql<number>`least(e.php_memory_mb, c.php_memory_mb)`,
    quotaBytes: sql<number | null>`least(coalesce(e.disk_quota_bytes, ${initial}),
      coalesce(c.disk_bytes - c.disk_used_bytes + coalesce(e.disk_bytes, 0), ${initial}))`,
  };
}
