/** DNS checks of domains: results, and which domains are due. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, SetupType } from "../database.ts";
import { isUnproven, servesSubdomains } from "./domains.ts";

export interface CheckedDomain {
  readonly id: string;
  readonly name: string;
  readonly companyId: string;
  readonly siteId: string;
  readonly environmentId: string;
  readonly environmentName: string;
  readonly siteName: string;
  readonly isWildcard: boolean;
  readonly isActive: boolean;
  /** Whether it is not served because its company must prove ownership first. */
  readonly isUnproven: boolean;
  readonly setupType: SetupType | "temporary";
  readonly createdAt: Date;
  readonly verifiedAt: Date | null;
  readonly pointsHereAt: Date | null;
  readonly failedChecks: number;
  readonly usesOwnDns: boolean;
  readonly checkedAt: Date | null;
  readonly seen: Readonly<Record<string, readonly string[]>> | null;
  /** The environment's temporary domain. */
  readonly temporaryName: string;
}

const columns = sql`
  d.id, d.name, d.company_id as "companyId", d.site_id as "siteId", d.environment_id as "environmentId",
  e.display_name as "environmentName", s.display_name as "siteName", d.is_wildcard as "isWildcard",
  d.is_active as "isActive", ${isUnproven} as "isUnproven", d.setup_type as "setupType", d.created_at as "createdAt",
  d.verified_at as "verifiedAt", d.points_here_at as "pointsHereAt", d.failed_checks as "failedChecks",
  d.uses_own_dns as "usesOwnDns", d.checked_at as "checkedAt", d.seen,
  t.name as "temporaryName"`;

const tables = sql`
  join environments e on e.id = d.environment_id
  join sites s on s.id = d.site_id
  join domains t on t.environment_id = d.environment_id and t.setup_type = 'temporary'`;

/** Returns null if there is no such domain. */
export async function findCheckedDomain(
  database: Database | DatabaseTransaction,
  id: string,
): Promise<CheckedDomain | null> {
  const { rows } = await sql<CheckedDomain>`
    select ${columns} from domains d ${tables} where d.id = ${id} and e.state <> 'adding'`.execute(database);
  return rows[0] ?? null;
}

/**
 * Claims at most `limit` due domains for `seconds`, longest overdue first. If the process dies, the checks are only
 * delayed.
 */
export async function claimDueDomains(
  database: Database,
  { limit, seconds }: { readonly limit: number; readonly seconds: number },
): Promise<readonly CheckedDomain[]> {
  const { rows } = await sql<CheckedDomain>`
    with due as (
      select id from domains where id in (
        select id from (
          select id, next_check_at, row_number() over (partition by company_id order by next_check_at) as turn
          from domains where next_check_at <= now()
        ) waiting order by turn, next_check_at limit ${limit}
      ) and next_check_at <= now() for update skip locked
    ), claimed as (
      update domains c set next_check_at = now() + make_interval(secs => ${seconds}) from due where c.id = due.id
      returning c.*
    )
    select ${columns} from claimed d ${tables} order by d.id`.execute(database);
  return rows;
}

export interface CheckOutcome {
  readonly id: string;
  /** Null if the resolver did not answer; known results then stay. */
  readonly found: {
    readonly seen: Readonly<Record<string, readonly string[]>>;
    /** Whether its ownership record was found. */
    readonly isVerified: boolean;
    /** Whether it needs no proof, because the company has proven that it owns a name above. */
    readonly needsNoProof: boolean;
    readonly pointsHere: boolean;
    /** Whether to serve it from now on. */
    readonly isServed: boolean;
    /** Whether its zone is delegated to this installation. */
    readonly usesOwnDns: boolean;
    /** The name of its ACME challenge that our DNS server answers, or null. */
    readonly challengeName: string | null;
  } | null;
  readonly failures: number;
  readonly secondsUntilNext: number;
}

/** What a check has changed. */
export interface CheckChange {
  readonly isNewlyVerified: boolean;
  /** Whether the edge serves other names than before, and `isZoneChanged`, whether the DNS server may. */
  readonly isRouteChanged: boolean;
  readonly isZoneChanged: boolean;
}

const noChange: CheckChange = { isNewlyVerified: false, isRouteChanged: false, isZoneChanged: false };

/**
 * Records a check. A domain that no longer points here stays active, because DNS may fail. Does nothing if it is gone.
 */
export async function noteCheck(transaction: DatabaseTransaction, outcome: CheckOutcome): Promise<CheckChange> {
  const { id, found, failures, secondsUntilNext } = outcome;
  await sql`
    update domains set failed_checks = ${failures}, next_check_at = now() + make_interval(secs => ${secondsUntilNext})
    where id = ${id}`.execute(transaction);
  if (found === null) return noChange;
  const state = sql`
    select d.id, d.verified_at, ${isUnproven} as unproven, d.is_active, ${servesSubdomains} as subdomains, d.uses_own_dns
    from domains d where d.id = ${id}`;
  const before = await sql<CheckedState>`${state}`.execute(transaction);
  await sql`
    update domains set seen = ${JSON.stringify(found.seen)}::jsonb, checked_at = now(),
      proof_needed = case when ${found.needsNoProof} then null else proof_needed end,
      verified_at = case when ${found.isVerified} then coalesce(verified_at, now()) else verified_at end,
      points_here_at = case when ${found.pointsHere} then now() else points_here_at end,
      is_active = is_active or ${found.isServed}, uses_own_dns = ${found.usesOwnDns}, challenge_name = ${found.challengeName}
    where id = ${id}`.execute(transaction);
  const after = await sql<CheckedState>`${state}`.execute(transaction);
  const [one, other] = [before.rows[0], after.rows[0]];
  return one === undefined || other === undefined ? noChange : changeBetween(one, other);
}

interface CheckedState {
  readonly verified_at: Date | null;
  readonly unproven: boolean;
  readonly is_active: boolean;
  readonly subdomains: boolean;
  readonly uses_own_dns: boolean;
}

function changeBetween(before: CheckedState, after: CheckedState): CheckChange {
  const isNewlyVerified = before.verified_at === null && after.verified_at !== null;
  return {
    isNewlyVerified,
    isRouteChanged: before.is_active !== after.is_active || (after.is_active && before.subdomains !== after.subdomains),
    isZoneChanged: isNewlyVerified || before.unproven !== after.unproven || before.uses_own_dns !== after.uses_own_dns,
  };
}

/** Makes checks of the domains due now. Ignores ids that are gone. */
export async function checkSoon(transaction: DatabaseTransaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await transaction.updateTable("domains").set({ next_check_at: sql<Date>`now()` }).where("id", "in", ids).execute();
}

/** Makes checks due of the company's domains below a name that wait for a proof, because that name has just been proven. */
export async function checkBelowSoon(
  transaction: DatabaseTransaction,
  { companyId, name }: { readonly companyId: string; readonly name: string },
): Promise<void> {
  await sql`
    update domains d set next_check_at = now()
    where d.company_id = ${companyId} and ${isUnproven}
      and reverse(d.name) like reverse(${`.${name}`}::text) || '%'`.execute(transaction);
}
