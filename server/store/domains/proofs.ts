/** Proofs that a company owns a domain. */
import { sql } from "kysely";
import { endActivity, recordActivity, systemActor } from "../company/activity.ts";
import type { DatabaseTransaction } from "../database.ts";
import { checkBelowSoon } from "./domainChecks.ts";
import { endOtherHolds } from "./nameClaims.ts";

export interface ProvenDomain {
  readonly name: string;
  readonly companyId: string;
  readonly siteId: string;
  readonly siteName: string;
  readonly environmentName: string;
}

/** Records in the activity log that a domain is proven, ends other companies' rights to it, and has names below it checked. */
export async function noteProof(transaction: DatabaseTransaction, domain: ProvenDomain): Promise<void> {
  const { companyId, siteId, siteName, environmentName, name: domainName } = domain;
  await endOtherHolds(transaction, domain);
  await checkBelowSoon(transaction, domain);
  const parameters = { domainName, siteName, environmentName };
  const id = await recordActivity(transaction, {
    companyId,
    siteId,
    category: "siteActions",
    type: "verifyDomain",
    parameters,
    actor: systemActor,
  });
  await endActivity(transaction, id, { hasFailed: false });
}

/** Marks a customer's domain as proven, so that it is served. Returns null if there is no such domain, or if it is proven. */
export async function markProven(transaction: DatabaseTransaction, name: string): Promise<ProvenDomain | null> {
  const { rows } = await sql<ProvenDomain>`
    update domains d set verified_at = now(),
      is_active = d.is_active or d.proof_needed is not distinct from 'all' or d.setup_type = 'avoid_downtime'
    from sites s, environments e
    where d.name = ${name} and d.setup_type <> 'temporary' and d.verified_at is null
      and s.id = d.site_id and e.id = d.environment_id
    returning d.name, d.company_id as "companyId", d.site_id as "siteId", s.display_name as "siteName",
      e.display_name as "environmentName"`.execute(transaction);
  return rows[0] ?? null;
}
