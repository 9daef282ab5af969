/**
 * Looks for domains in DNS: whether ownership is proven, and whether they point here. Any number of processes may do so at
 * once: each takes some of those whose turn it is, and they are nobody else's meanwhile.
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

export interface CheckDomainsOptions {
  readonly database: Database;
  readonly lookUp: LookUp;
  readonly publisher: Pick<Publisher, "publish">;
  /** With the names of its DNS servers. */
  readonly installation: Installation & { readonly dnsNames: readonly string[] };
  readonly log: Logger;
}

/** At the same time, each with a handful of questions. */
const atOnce = 20;
/** Longer than a look can take, whatever the resolver does. */
const claimSeconds = 120;
/** Limits for foreign DNS records that are stored. */
const mostValues = 20;
const mostCharacters = 500;

/** Some of them: the rest next time. Rejects if the edge could not be told; `publishRoutes` tells it then. */
export async function checkDomains(options: CheckDomainsOptions): Promise<void> {
  const due = await claimDueDomains(options.database, { limit: atOnce, seconds: claimSeconds });
  const served = await Promise.all(due.map((domain) => checkOne(domain, options)));
  if (served.includes(true)) await options.publisher.publish();
}

/** Whether the domain is served from now on, and was not before. */
async function checkOne(domain: CheckedDomain, options: CheckDomainsOptions): Promise<boolean> {
  const outcome = await look(domain, options);
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

async function look(domain: CheckedDomain, { lookUp, installation, log }: CheckDomainsOptions): Promise<CheckOutcome> {
  const { id, name } = domain;
  const ageSeconds = (Date.now() - domain.createdAt.getTime()) / 1_000;
  const next = (failures: number, isRight: boolean) =>
    secondsUntilCheck({ ageSeconds, failures, isRight }, Math.random());
  try {
    const seen = await ask(domain, lookUp, installation);
    const { isVerified, pointsHere } = evaluateRecords(domain, seen, installation);
    const isProven = isVerified || domain.verifiedAt !== null;
    // A name that points here no longer points to its former host, so visitors must see the site now.
    const isServed = domain.setupType === "avoid_downtime" && (isProven || pointsHere);
    const usesOwnDns = await isDelegated(domain, lookUp, installation.dnsNames);
    const challengeName = challengeNameOf(domain, { seen, usesOwnDns }, installation);
    const found = { seen: keptOf(domain, seen), isVerified, pointsHere, isServed, usesOwnDns, challengeName };
    return { id, found, failures: 0, secondsUntilNext: next(0, isProven && pointsHere) };
  } catch (error) {
    if (!(error instanceof NoDnsAnswer)) throw error;
    const failures = domain.failedChecks + 1;
    if (failures === 1) log.warn({ domain: name, reason: error.message }, "A domain could not be looked up");
    return { id, found: null, failures, secondsUntilNext: next(failures, false) };
  }
}

/** Where the resolver says nothing of it, what is known stays: the rest was answered. */
async function isDelegated(domain: CheckedDomain, lookUp: LookUp, dnsNames: readonly string[]): Promise<boolean> {
  if (domain.setupType === "temporary") return false;
  try {
    return isDelegatedHere(await lookUp("NS", readDomainName(domain.name).registrable), dnsNames);
  } catch (error) {
    if (error instanceof NoDnsAnswer) return domain.usesOwnDns;
    throw error;
  }
}

async function ask(domain: CheckedDomain, lookUp: LookUp, installation: Installation): Promise<FoundRecords> {
  const asked = recordsToQuery(domain, installation);
  const answers = asked.map(async (record) => [recordKey(record), await lookUp(record.type, record.name)] as const);
  return Object.fromEntries(await Promise.all(answers));
}

/** The one that is wanted is never among those left out. */
function keptOf(domain: CheckedDomain, seen: FoundRecords): FoundRecords {
  const wanted = ownershipRecord(domain).value;
  const rank = (value: string) => (value === wanted ? 0 : 1);
  const kept = Object.entries(seen).map(([key, values]) => {
    const first = values.toSorted((one, other) => rank(one) - rank(other)).slice(0, mostValues);
    return [key, first.map((value) => value.slice(0, mostCharacters))] as const;
  });
  return Object.fromEntries(kept);
}
