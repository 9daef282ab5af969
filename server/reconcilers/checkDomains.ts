/**
 * Checks domains in DNS: whether ownership is proven, and whether they point here. Several processes may run this at once:
 * each claims some of the due domains.
 */
import type { Logger } from "pino";
import { secondsUntilCheck } from "../domains/checkInterval.ts";
import { type LookUp, NoDnsAnswer } from "../domains/lookUp.ts";
import { namesAbove, readDomainName } from "../domains/names.ts";
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
import type { Database } from "../store/database.ts";
import { type CheckedDomain, type CheckOutcome, claimDueDomains, noteCheck } from "../store/domains/domainChecks.ts";
import { lockNames } from "../store/domains/domains.ts";
import { findNameClaim } from "../store/domains/nameClaims.ts";
import { noteProof } from "../store/domains/proofs.ts";
import { dnsGenerations, edgeGenerations } from "../store/generations.ts";

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
  const changed = await Promise.all(due.map((domain) => checkOne(domain, options)));
  if (changed.includes(true)) await options.publisher.publish();
}

/** Returns whether the edge must serve other names than before. */
async function checkOne(domain: CheckedDomain, options: CheckDomainsOptions): Promise<boolean> {
  const outcome = await lookUpDomain(domain, options);
  return options.database.transaction().execute(async (transaction) => {
    // A claim by another company is decided before or after this, not at the same time.
    if (domain.setupType !== "temporary") await lockNames(transaction, readDomainName(domain.name).registrable);
    const { isNewlyVerified, isRouteChanged, isZoneChanged } = await noteCheck(transaction, outcome);
    if (isNewlyVerified) await noteProof(transaction, domain);
    if (isZoneChanged) await dnsGenerations.announce(transaction);
    if (isRouteChanged) await edgeGenerations.announce(transaction);
    return isRouteChanged;
  });
}

async function lookUpDomain(
  domain: CheckedDomain,
  { database, lookUp, installation, log }: CheckDomainsOptions,
): Promise<CheckOutcome> {
  const { id, name, isUnproven } = domain;
  const ageSeconds = (Date.now() - domain.createdAt.getTime()) / 1_000;
  const next = (failures: number, isRight: boolean) =>
    secondsUntilCheck({ ageSeconds, failures, isRight }, Math.random());
  try {
    const seen = await lookUpRecords(domain, lookUp, installation);
    const { isVerified, pointsHere } = evaluateRecords(domain, seen, installation);
    const isProven = isVerified || domain.verifiedAt !== null;
    const needsNoProof = isUnproven && !isVerified && (await isBelowProven(domain, database));
    const isServed = isUnproven ? isVerified || needsNoProof : isReady(domain, { isProven, pointsHere });
    const usesOwnDns = await isDelegated(domain, lookUp, installation.dnsNames);
    const challengeName = challengeNameOf(domain, { seen, usesOwnDns }, installation);
    const result = { isVerified, needsNoProof, pointsHere, isServed, usesOwnDns, challengeName };
    const found = { seen: limited(domain, seen), ...result };
    return { id, found, failures: 0, secondsUntilNext: next(0, isProven && pointsHere) };
  } catch (error) {
    if (!(error instanceof NoDnsAnswer)) throw error;
    const failures = domain.failedChecks + 1;
    if (failures === 1) log.warn({ domain: name, reason: error.message }, "Looking up a domain failed");
    return { id, found: null, failures, secondsUntilNext: next(failures, false) };
  }
}

/** If the name already points here, its former host no longer gets the visitors, so the site must be served now. */
function isReady(
  { setupType }: CheckedDomain,
  { isProven, pointsHere }: { readonly isProven: boolean; readonly pointsHere: boolean },
): boolean {
  return setupType === "avoid_downtime" && (isProven || pointsHere);
}

/** Whether the company has proven that it owns a name above the domain, and no other company one in between. */
async function isBelowProven({ companyId, isWildcard, name }: CheckedDomain, database: Database): Promise<boolean> {
  const wanted = { isWildcard, above: namesAbove(name), ...readDomainName(name) };
  return (await findNameClaim(database, companyId, wanted)).isBelowOwnProven;
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
