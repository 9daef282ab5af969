/**
 * Checks domains in DNS: whether ownership is proven, and whether they point here. Several processes may run this at once:
 * each claims some of the due domains.
 */
import type { Logger } from "pino";
import { secondsUntilCheck } from "../domains/checkInterval.ts";
import { type LookUp, NoDnsAnswer } from "../domains/lookUp.ts";
import { readDomainName } from "../domains/names.ts";
import {
  challengeNameOf,
  evaluateRecords,
  type FoundRecords,
  type Installation,
  isDelegatedHere,
  ownershipRecord,
  recordKey,
  recordsToQuery,
} from "../domains/records.ts";
import type { Publisher } from "../publishing/publishRoutes.ts";
import { endActivity, recordActivity, systemActor } from "../store/company/activity.ts";
import type { Database } from "../store/database.ts";
import { type CheckedDomain, type CheckOutcome, claimDueDomains, noteCheck } from "../store/domains/domainChecks.ts";

interface CheckDomainsOptions {
  readonly database: Database;
  readonly lookUp: LookUp;
  readonly publisher: Pick<Publisher, "publish">;
  readonly installation: Installation & { readonly dnsNames: readonly string[] };
  readonly log: Logger;
}

/** Domains checked in parallel, each with a handful of queries. */
const concurrency = 20;
/** Longer than any check can take, whatever the resolver does. */
const claimSeconds = 120;
/** Limits for foreign DNS records that are stored. */
const maxValues = 20;
const maxCharacters = 500;

/**
 * Checks one batch of due domains. Rejects if the edge can't be reached; the `publishRoutes` reconciler then publishes the
 * change.
 */
export async function checkDomains(options: CheckDomainsOptions): Promise<void> {
  const due = await claimDueDomains(options.database, { limit: concurrency, seconds: claimSeconds });
  const served = await Promise.all(due.map((domain) => checkOne(domain, options)));
  if (served.includes(true)) await options.publisher.publish();
}

/** Returns whether the domain is newly served. */
async function checkOne(domain: CheckedDomain, options: CheckDomainsOptions): Promise<boolean> {
  const outcome = await lookUpDomain(domain, options);
  const { found } = outcome;
  const isNewlyVerified = (found?.isVerified ?? false) && domain.verifiedAt === null;
  await options.database.transaction().execute(async (transaction) => {
    await noteCheck(transaction, outcome);
    if (!isNewlyVerified) return;
    const { companyId, siteId, siteName, name: domainName } = domain;
    const parameters = { domainName, siteName, environmentName: domain.environmentName };
    const entry = {
      companyId,
      siteId,
      category: "siteActions",
      type: "verifyDomain",
      parameters,
      actor: systemActor,
    } as const;
    await endActivity(transaction, await recordActivity(transaction, entry), { hasFailed: false });
  });
  return (found?.isServed ?? false) && !domain.isActive;
}

async function lookUpDomain(
  domain: CheckedDomain,
  { lookUp, installation, log }: CheckDomainsOptions,
): Promise<CheckOutcome> {
  const { id, name } = domain;
  const ageSeconds = (Date.now() - domain.createdAt.getTime()) / 1_000;
  const next = (failures: number, isRight: boolean) =>
    secondsUntilCheck({ ageSeconds, failures, isRight }, Math.random());
  try {
    const seen = await lookUpRecords(domain, lookUp, installation);
    const { isVerified, pointsHere } = evaluateRecords(domain, seen, installation);
    const isProven = isVerified || domain.verifiedAt !== null;
    // If the name already points here, its former host no longer gets the visitors, so the site must be served now.
    const isServed = domain.setupType === "avoid_downtime" && (isProven || pointsHere);
    const usesOwnDns = await isDelegated(domain, lookUp, installation.dnsNames);
    const challengeName = challengeNameOf(domain, { seen, usesOwnDns }, installation);
    const found = { seen: limited(domain, seen), isVerified, pointsHere, isServed, usesOwnDns, challengeName };
    return { id, found, failures: 0, secondsUntilNext: next(0, isProven && pointsHere) };
  } catch (error) {
    if (!(error instanceof NoDnsAnswer)) throw error;
    const failures = domain.failedChecks + 1;
    if (failures === 1) log.warn({ domain: name, reason: error.message }, "Looking up a domain failed");
    return { id, found: null, failures, secondsUntilNext: next(failures, false) };
  }
}

/** Keeps the known value if only this query fails. */
async function isDelegated(domain: CheckedDomain, lookUp: LookUp, dnsNames: readonly string[]): Promise<boolean> {
  if (domain.setupType === "temporary") return false;
  try {
    return isDelegatedHere(await lookUp("NS", readDomainName(domain.name).registrable), dnsNames);
  } catch (error) {
    if (error instanceof NoDnsAnswer) return domain.usesOwnDns;
    throw error;
  }
}

async function lookUpRecords(domain: CheckedDomain, lookUp: LookUp, installation: Installation): Promise<FoundRecords> {
  const asked = recordsToQuery(domain, installation);
  const answers = asked.map(async (record) => [recordKey(record), await lookUp(record.type, record.name)] as const);
  return Object.fromEntries(await Promise.all(answers));
}

/** Limits the records that are stored. The ownership record is always kept. */
function limited(domain: CheckedDomain, seen: FoundRecords): FoundRecords {
  const ownership = ownershipRecord(domain).value;
  const rank = (value: string) => (value === ownership ? 0 : 1);
  const kept = Object.entries(seen).map(([key, values]) => {
    const first = values.toSorted((one, other) => rank(one) - rank(other)).slice(0, maxValues);
    return [key, first.map((value) => value.slice(0, maxCharacters))] as const;
  });
  return Object.fromEntries(kept);
}
