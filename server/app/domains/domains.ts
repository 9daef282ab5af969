/** Domains: lists, the DNS records they need, and how their removal starts. `addDomain.ts` adds them. */
import {
  challengeRecord,
  type DomainFacts,
  evaluateRecords,
  type FoundRecords,
  isRight,
  ownershipRecord,
  pointingRecords,
  recordKey,
  type WantedRecord,
} from "@sitewright/server/domains/records.ts";
import type { DeleteDomainInput } from "@sitewright/server/operations/domains/deleteDomain.ts";
import { type CheckedDomain, checkSoon, findCheckedDomain } from "@sitewright/server/store/domains/domainChecks.ts";
import {
  type DomainFactsRow,
  domainsOfEnvironment,
  findDomainPlace,
  listCompanyDomains,
  listDomains,
} from "@sitewright/server/store/domains/domains.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { sitesInScope } from "../company/access.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { companyList, type ListQuery, windowOf } from "../lists.ts";

/** Lists the company's domains in the key's scope. */
export async function listOfCompany(context: Context, query: ListQuery) {
  const { pool, caller } = context;
  const filter = { companyId: caller.companyId, siteIds: sitesInScope(caller) };
  const window = await windowOf(query, "domain", (id) => findDomainPlace(pool, filter, id));
  const rows = listCompanyDomains(pool, filter, window);
  return companyList(context, query, rows, ({ id, name, site_id, is_active }) => ({ id, name, site_id, is_active }));
}

export async function list(context: Context, environmentId: string) {
  const rows = await listDomains(context.pool, environmentId);
  if (rows === null) throw new NotFound();
  return rows.map(({ site_id: _, is_wildcard, uses_own_dns, ...row }) => ({
    ...row,
    is_wildcardless: !is_wildcard,
    uses_provider_dns: uses_own_dns,
  }));
}

/** The DNS records that the domain needs, and the ones seen at the last check. Requests a new check if that one is stale. */
export async function verificationRecords(context: Context, domainId: string) {
  const domain = await findCheckedDomain(context.database, domainId);
  if (domain === null) throw new NotFound();
  const { checkedAt, verifiedAt, seen } = domain;
  const last_checked_at = checkedAt?.getTime() ?? null;
  if (domain.setupType === "temporary") {
    return {
      verification_records: [],
      pointing_records: [],
      is_verified: true,
      points_here: true,
      needs_proof: false,
      last_checked_at,
    };
  }
  if (isStale(checkedAt)) await context.inTransaction((transaction) => checkSoon(transaction, [domain.id]));
  return {
    verification_records: verificationOf(context, domain).map((record) => recordView(record, seen)),
    pointing_records: pointingRecords(domain, context.settings).map((record) => recordView(record, seen)),
    is_verified: verifiedAt !== null,
    points_here: pointedHere(context, domain),
    needs_proof: domain.isUnproven,
    last_checked_at,
  };
}

/** Whether the domain pointed here at its last check. */
export function pointedHere({ settings }: Context, domain: CheckedDomain): boolean {
  const { setupType, seen } = domain;
  return setupType === "temporary" || (seen !== null && evaluateRecords(domain, seen, settings).pointsHere);
}

/** Limits lookups if calls are frequent. */
const freshMilliseconds = 5_000;

function isStale(checkedAt: Date | null): boolean {
  return checkedAt !== null && Date.now() - checkedAt.getTime() > freshMilliseconds;
}

function verificationOf({ settings }: Context, domain: DomainFacts): readonly WantedRecord[] {
  return [ownershipRecord(domain), challengeRecord(domain, settings)];
}

function recordView(record: WantedRecord, seen: FoundRecords | null) {
  const { name, value, type, isRequired } = record;
  const values = seen?.[recordKey(record)];
  return {
    name,
    value,
    type,
    is_required: isRequired,
    last_seen: values === undefined ? null : [...values],
    is_right: isRight(record, seen),
  };
}

/** Starts the removal of the domains. Returns the operation's id. */
export function remove(context: Context, environmentId: string, domainIds: readonly string[]): Promise<string> {
  const wanted = new Set(domainIds.map((id) => id.toLowerCase()));
  return context.inTransaction(async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    const own = await domainsOfEnvironment(transaction, environment.id);
    const domains = own.filter(({ id }) => wanted.has(id));
    refuseUnknown(wanted, domains);
    for (const domain of domains) refuseNeeded(domain);
    const { operationId } = await context.acceptOperation(transaction, {
      kind: "deleteDomain",
      companyId: environment.company_id,
      siteId: environment.site_id,
      environmentId: environment.id,
      locks: [environment.id],
      input: { environmentId: environment.id, domainIds: domains.map(({ id }) => id) } satisfies DeleteDomainInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: {
        domainName: domains.map(({ name }) => name).join(", "),
        environmentName: environment.display_name,
        siteName: environment.site_display_name,
      },
    });
    return operationId;
  });
}

export function refuseUnknown(wanted: ReadonlySet<string>, found: readonly { readonly id: string }[]): void {
  const ids = [...wanted].filter((id) => !found.some((domain) => domain.id === id));
  if (ids.length === 0) return;
  throw new Refused("not_of_this_environment", `The environment has no domain with the id ${ids.join(", ")}.`, { ids });
}

function refuseNeeded({ id, name, isPrimary, isTemporary }: DomainFactsRow): void {
  if (isTemporary) {
    const message = `"${name}" is the environment's temporary domain and can't be removed. To stop using it, make another domain the primary one.`;
    throw new Refused("domain_is_temporary", message, { domain_id: id });
  }
  if (!isPrimary) return;
  const message = `"${name}" is the primary domain. Choose another primary domain first: PUT …/change-primary-domain.`;
  throw new Refused("domain_is_primary", message, { domain_id: id });
}
