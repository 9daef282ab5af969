/** Domains of environments: customers' own and temporary ones. */
import type { ReadPage } from "@sitewright/contract/lists.ts";
import { type InsertObject, sql } from "kysely";
import type { Pool } from "pg";
import type { Database, DatabaseTransaction, ProofNeeded, SetupType, Tables } from "../database.ts";
import { inPages, type Window } from "../pages.ts";

interface NewDomain {
  readonly id: string;
  readonly environmentId: string;
  readonly siteId: string;
  readonly companyId: string;
  readonly name: string;
  readonly isWildcard: boolean;
}

export interface NewOwnDomain extends NewDomain {
  readonly setupType: SetupType;
  /** Whether the company has just proven that it owns the name. Default: false. */
  readonly isVerified?: boolean;
  /** What is served only once that is proven; null (the default) for nothing. */
  readonly proofNeeded?: ProofNeeded | null;
}

/** SQL expression: whether the domain `d` is not served because its company must prove ownership first. */
export const isUnproven = sql<boolean>`(d.proof_needed is not distinct from 'all' and d.verified_at is null)`;

/** SQL expression: whether the edge serves the names below the domain `d`, if it serves the domain. */
export const servesSubdomains = sql<boolean>`(
  d.is_wildcard and (d.proof_needed is null or d.verified_at is not null or d.points_here_at is not null))`;

/** Inserts an environment's temporary domain as its primary domain. Returns false if the name is taken. */
export function insertPrimaryDomain(transaction: DatabaseTransaction, domain: NewDomain): Promise<boolean> {
  const known = { verified_at: sql<Date>`now()`, points_here_at: sql<Date>`now()` };
  return insertRow(transaction, domain, { is_primary: true, ...known });
}

export async function isDomainNameTaken(transaction: DatabaseTransaction, name: string): Promise<boolean> {
  const found = await transaction.selectFrom("domains").select("id").where("name", "=", name).executeTakeFirst();
  return found !== undefined;
}

/** Inserts an inactive domain and has it checked soon. Returns false if the name is taken. */
export function insertDomain(transaction: DatabaseTransaction, domain: NewOwnDomain): Promise<boolean> {
  return insertRow(transaction, domain, {
    is_active: false,
    setup_type: domain.setupType,
    proof_needed: domain.proofNeeded ?? null,
    verified_at: domain.isVerified ? sql<Date>`now()` : null,
    next_check_at: sql<Date>`now()`,
    // Not the transaction's time, so that domains added together are listed in order.
    created_at: sql<Date>`clock_timestamp()`,
  });
}

async function insertRow(
  transaction: DatabaseTransaction,
  { id, environmentId, siteId, companyId, name, isWildcard }: NewDomain,
  more: Partial<InsertObject<Tables, "domains">>,
): Promise<boolean> {
  const ids = { environment_id: environmentId, site_id: siteId, company_id: companyId };
  const inserted = await transaction
    .insertInto("domains")
    .values({ id, ...ids, name, is_wildcard: isWildcard, ...more })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted !== undefined;
}

/** An arbitrary number; the second part of the lock is the name's hash. */
const nameLocks = 4_711_012;

/** Makes other transactions that add names below the same registrable domain wait until this one ends. */
export async function lockNames(transaction: DatabaseTransaction, registrable: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${nameLocks}, hashtext(${registrable}))`.execute(transaction);
}

/** Removes a domain. If it was primary, the temporary domain becomes primary. */
export async function releaseDomain(
  transaction: DatabaseTransaction,
  domain: { readonly id: string; readonly environmentId: string },
): Promise<void> {
  await removeDomains(transaction, [domain.id]);
  await sql`
    update domains set is_primary = true
    where environment_id = ${domain.environmentId} and setup_type = 'temporary'
      and not exists (select from domains p where p.environment_id = ${domain.environmentId} and p.is_primary)
  `.execute(transaction);
}

/** Ignores ids that are gone. */
export async function removeDomains(transaction: DatabaseTransaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await transaction.deleteFrom("domains").where("id", "in", ids).execute();
}

/** Sets whether the edge serves the domains. Those that need a proof stay inactive. Ignores ids that are gone. */
export async function setActive(database: Database, ids: readonly string[], isActive: boolean): Promise<void> {
  if (ids.length === 0) return;
  const next = sql<boolean>`${isActive}::boolean and not ${isUnproven}`;
  await database.updateTable("domains as d").set({ is_active: next }).where("d.id", "in", ids).execute();
}

/** A domain for an operation. */
export interface DomainFactsRow {
  readonly id: string;
  readonly name: string;
  readonly isPrimary: boolean;
  readonly isActive: boolean;
  readonly isTemporary: boolean;
  readonly isWildcard: boolean;
  readonly isHttps: boolean;
}

export async function domainsOfEnvironment(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<readonly DomainFactsRow[]> {
  return database
    .selectFrom("domains")
    .select(["id", "name", "is_primary as isPrimary", "is_active as isActive", "is_wildcard as isWildcard"])
    .select(["is_https as isHttps"])
    .select(sql<boolean>`setup_type = 'temporary'`.as("isTemporary"))
    .where("environment_id", "=", environmentId)
    .orderBy("is_primary", "desc")
    .orderBy("created_at")
    .orderBy((eb) => eb.fn("length", ["name"]))
    .orderBy("id")
    .execute();
}

/** Makes a domain the environment's primary domain. Idempotent. Returns false if the domain is gone. */
export function setPrimaryDomain(
  database: Database,
  environmentId: string,
  { id, isHttps }: { readonly id: string; readonly isHttps: boolean },
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    const found = transaction.selectFrom("domains").select("id").where("id", "=", id).forUpdate();
    if ((await found.executeTakeFirst()) === undefined) return false;
    const domains = transaction.updateTable("domains").where("environment_id", "=", environmentId);
    await domains.set({ is_primary: false }).where("id", "<>", id).where("is_primary", "=", true).execute();
    await domains.set({ is_primary: true, is_https: isHttps }).where("id", "=", id).execute();
    return true;
  });
}

/** A domain in lists. */
interface ListedDomain {
  readonly id: string;
  readonly name: string;
  readonly site_id: string;
  readonly is_active: boolean;
  readonly is_primary: boolean;
  readonly is_wildcard: boolean;
  readonly setup_type: SetupType | "temporary";
  readonly uses_own_dns: boolean;
  readonly is_verified: boolean;
  readonly points_here: boolean;
  readonly needs_proof: boolean;
}

const listedColumns = `d.id, d.name, d.site_id, d.is_active, d.is_primary, d.is_wildcard, d.setup_type, d.uses_own_dns,
  d.verified_at is not null as is_verified, d.points_here_at is not null as points_here,
  d.proof_needed is not distinct from 'all' and d.verified_at is null as needs_proof`;

/** Lists the environment's domains, the primary one first. Returns null if there is no such environment. */
export async function listDomains(pool: Pool, environmentId: string): Promise<readonly ListedDomain[] | null> {
  const { rows } = await pool.query<ListedDomain>({
    name: "list-domains",
    text: `select ${listedColumns} from environments e join domains d on d.environment_id = e.id
      where e.id = $1 and e.state <> 'adding' order by d.is_primary desc, d.created_at, length(d.name), d.id`,
    values: [environmentId],
  });
  return rows.length === 0 ? null : rows;
}

interface DomainFilter {
  readonly companyId: string;
  /** Only these sites; null for all. */
  readonly siteIds: readonly string[] | null;
}

/** A domain's place in its company's list. */
interface DomainPlace {
  readonly id: string;
  readonly name: string;
  /** As text, because times of the database are more precise than those of JavaScript. */
  readonly created: string;
}

interface CompanyDomain {
  readonly id: string;
  readonly name: string;
  readonly site_id: string;
  readonly is_active: boolean;
}

/** A page, column by column. Null if it is empty. */
interface DomainColumns {
  readonly ids: readonly string[] | null;
  readonly names: readonly string[] | null;
  readonly sites: readonly string[] | null;
  readonly active: readonly boolean[] | null;
  /** Of the last domain. */
  readonly created: string | null;
}

const pageSize = 500;

/** SQL expression: the company's few environments that are not visible yet. A join would read all of them for each page. */
const hiddenEnvironments = "array(select id from environments where company_id = $1 and state = 'adding')";

/** Lists the domains of all visible environments of the company in pages, oldest first. */
export function listCompanyDomains(
  pool: Pool,
  { companyId, siteIds }: DomainFilter,
  window: Window<DomainPlace>,
): ReadPage<CompanyDomain> {
  return inPages(pageSize, window, async ({ after, limit, offset }) => {
    const { rows } = await pool.query<DomainColumns>({
      name: "list-company-domains",
      // A page as four values takes a fourth of the time of a row for each domain, and half of that of an array for each row.
      text: `select json_agg(id) as ids, json_agg(name) as names, json_agg(site_id) as sites, json_agg(is_active) as active,
          max(created_at)::text as created from (
          select d.id, d.name, d.site_id, d.is_active, d.created_at from domains d
          where d.company_id = $1 and (d.created_at, length(d.name), d.id) > ($5::timestamptz, $6::integer, $7::uuid)
            and ($2::uuid[] is null or d.site_id = any($2)) and d.environment_id <> all(${hiddenEnvironments})
          order by d.created_at, length(d.name), d.id limit $3 offset $4
        ) d`,
      values: [companyId, siteIds, limit, offset, ...(after ? [after.created, after.name.length, after.id] : start)],
    });
    return domainsFrom(rows[0]);
  });
}

function domainsFrom(columns: DomainColumns | undefined) {
  const { ids, names, sites, active, created } = columns ?? {};
  const items = (ids ?? []).map((id, index) => ({
    id,
    name: names?.[index] ?? "",
    site_id: sites?.[index] ?? "",
    is_active: active?.[index] ?? false,
  }));
  const last = items.at(-1);
  return { items, last: last && created ? { id: last.id, name: last.name, created } : null };
}

/** Before all domains. */
const start = ["-infinity", 0, "00000000-0000-0000-0000-000000000000"];

/** Returns where the domain is in the list, or null if it is not in it. */
export async function findDomainPlace(
  pool: Pool,
  { companyId, siteIds }: DomainFilter,
  domainId: string,
): Promise<DomainPlace | null> {
  const { rows } = await pool.query<DomainPlace>({
    name: "place-of-domain",
    text: `select d.id, d.name, d.created_at::text as created from domains d join environments e on e.id = d.environment_id
      where d.id = $1 and d.company_id = $2 and ($3::uuid[] is null or d.site_id = any($3)) and e.state <> 'adding'`,
    values: [domainId, companyId, siteIds],
  });
  return rows[0] ?? null;
}
