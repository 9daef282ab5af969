/** Domains of deleted environments with their DNS records, without temporary ones: stored and restored. */
import { sql } from "kysely";
import type { DatabaseTransaction, ProofNeeded, SetupType } from "../database.ts";
import type { DnsRecordSetRow } from "./dnsRecords.ts";

/** A stored domain, in the database's JSON format. */
export interface DeletedDomain {
  readonly id: string;
  readonly name: string;
  readonly is_wildcard: boolean;
  readonly is_primary: boolean;
  readonly is_https: boolean;
  readonly is_active: boolean;
  readonly setup_type: SetupType;
  readonly verified_at: string | null;
  /** Absent if it was stored by an earlier version, like `proof_needed`. */
  readonly points_here_at?: string | null;
  readonly proof_needed?: ProofNeeded | null;
  /** The DNS records of the domain and below it. Absent if it had no zone, or was stored by an earlier version. */
  readonly records?: readonly DnsRecordSetRow[];
}

/** SQL expression: an object with the DNS records of the domain `o`, as in `DeletedDomain`; empty if it has no zone. */
const recordsToKeep = sql`(case when o.zone_id is null then '{}'::jsonb else jsonb_build_object('records', (
  select coalesce(jsonb_agg(jsonb_build_object('name', r.name, 'type', r.type, 'ttl', r.ttl, 'values',
    to_jsonb(r.resource_records)) order by r.name, r.type), '[]')
  from dns_records r
  where r.zone_id = o.zone_id and (r.name = o.name or right(r.name, length(o.name) + 1) = '.' || o.name))) end)`;

/** SQL expression: the domains of the environment `e`, as a JSON array of `DeletedDomain`. */
export const domainsToKeep = sql`(
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', o.id, 'name', o.name, 'is_wildcard', o.is_wildcard, 'is_primary', o.is_primary, 'is_https', o.is_https,
    'is_active', o.is_active, 'setup_type', o.setup_type, 'verified_at', o.verified_at,
    'points_here_at', o.points_here_at, 'proof_needed', o.proof_needed
  ) || ${recordsToKeep} order by o.created_at, o.id), '[]')
  from domains o where o.environment_id = e.id and o.setup_type <> 'temporary')`;

export interface DomainOwner {
  readonly environmentId: string;
  readonly siteId: string;
  readonly companyId: string;
}

/** Inserts a domain again, but not as primary. Returns false if the name is taken. */
export async function reinsertDomain(
  transaction: DatabaseTransaction,
  { environmentId, siteId, companyId }: DomainOwner,
  { id, name, is_wildcard, is_active, setup_type, verified_at, ...more }: DeletedDomain,
): Promise<boolean> {
  const { rows } = await sql`
    insert into domains (id, environment_id, site_id, company_id, name, is_wildcard, is_active, setup_type, verified_at,
      points_here_at, proof_needed, next_check_at)
    values (${id}, ${environmentId}, ${siteId}, ${companyId}, ${name}, ${is_wildcard}, ${is_active}, ${setup_type},
      ${verified_at}::timestamptz, ${more.points_here_at ?? null}::timestamptz, ${more.proof_needed ?? null}, now())
    on conflict do nothing returning id`.execute(transaction);
  return rows.length === 1;
}

/** Makes a domain the primary one of a newly inserted environment. */
export async function makePrimary(
  transaction: DatabaseTransaction,
  environmentId: string,
  { id, is_https }: Pick<DeletedDomain, "id" | "is_https">,
): Promise<void> {
  const domains = transaction.updateTable("domains").where("environment_id", "=", environmentId);
  await domains.set({ is_primary: false }).where("is_primary", "=", true).execute();
  await domains.set({ is_primary: true, is_https }).where("id", "=", id).execute();
}
