/** Which domain names a company can add: their syntax, who owns them, and who uses them. */
import { leadsHere } from "@sitewright/server/domains/leadsHere.ts";
import { NotADomainName, namesAbove, readDomainName, reservedReason } from "@sitewright/server/domains/names.ts";
import { proofNeededFor } from "@sitewright/server/domains/proofs.ts";
import { ownershipRecord, recordKey } from "@sitewright/server/domains/records.ts";
import { endActivity, recordActivity, systemActor } from "@sitewright/server/store/company/activity.ts";
import type { DatabaseTransaction, ProofNeeded } from "@sitewright/server/store/database.ts";
import { lockNames, releaseDomain } from "@sitewright/server/store/domains/domains.ts";
import {
  endOtherHolds,
  findNameClaim,
  type NameClaim,
  type NewName,
  type Overlap,
} from "@sitewright/server/store/domains/nameClaims.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";

/** Throws `Refused` if the text is not a domain name, or a reserved one. Whether the name is free is not checked. */
export function readWantedName({ settings }: Context, text: string, isWildcard: boolean): NewName {
  try {
    const { name, registrable } = readDomainName(text);
    const reason = reservedReason(name, isWildcard, { suffix: settings.siteSuffix, apiName: settings.apiName });
    if (reason !== null) throw new Refused("domain_reserved", `"${name}" ${reason}.`, { field: "domain_name" });
    return { name, registrable, isWildcard, above: namesAbove(name) };
  } catch (error) {
    if (!(error instanceof NotADomainName)) throw error;
    throw new Refused("not_a_domain_name", error.message, { field: "domain_name" });
  }
}

/** What DNS says about a name. */
interface Found {
  /** The values of the ownership record. */
  readonly ownership: readonly string[];
  /** Whether the name already leads to this installation. */
  readonly leadsHere: boolean;
}

/** By name. Names whose claim does not depend on DNS are missing. */
type FoundInDns = ReadonlyMap<string, Found>;

/** Without an answer, nothing is proven. */
const notFound: Found = { ownership: [], leadsHere: true };

/**
 * Looks up the names whose claim depends on DNS. This happens before the transaction, since a resolver may take seconds;
 * `takeName` decides.
 */
export async function lookUpNames(context: Context, names: readonly NewName[]): Promise<FoundInDns> {
  const { companyId } = context.caller;
  const found = names.map(async (wanted): Promise<readonly (readonly [string, Found])[]> => {
    const claim = await findNameClaim(context.database, companyId, wanted);
    return dependsOnDns(claim, companyId, wanted) ? [[wanted.name, await lookUpName(context, wanted)]] : [];
  });
  return new Map((await Promise.all(found)).flat());
}

function dependsOnDns(claim: NameClaim, companyId: string, { isWildcard }: NewName): boolean {
  const isForeign = claim.overlaps.some((overlap) => overlap.companyId !== companyId);
  return isForeign || claim.isHeldByAnother || proofNeededFor(claim, { isWildcard, leadsHere: true }) === "all";
}

async function lookUpName({ caller, lookUp, settings }: Context, wanted: NewName): Promise<Found> {
  const { type, name } = ownershipRecord({ companyId: caller.companyId, name: wanted.name });
  const [ownership, isHere] = await Promise.all([
    lookUp(type, name).catch(() => []),
    leadsHere(lookUp, wanted, settings),
  ]);
  return { ownership, leadsHere: isHere };
}

/** What a company has proven for a name that it can have, and what it must still prove. */
interface Taken {
  readonly isVerified: boolean;
  readonly proofNeeded: ProofNeeded | null;
}

/** An unproven name is reserved for this long; afterwards any other company can add it. */
const unprovenSeconds = 7 * 24 * 3_600;

/**
 * Checks that the company can have the name, and locks all names below the same registrable name until the transaction ends.
 * A company that proves by DNS that it owns a name takes it from one that doesn't; overlaps don't matter then, since the edge
 * prefers the longer name. Throws `Refused` if the environment has the name, and otherwise the same `Refused` for every
 * reason.
 */
export async function takeName(
  context: Context,
  transaction: DatabaseTransaction,
  wanted: NewName,
  { environmentId, foundInDns }: { readonly environmentId: string; readonly foundInDns: FoundInDns },
): Promise<Taken> {
  const { companyId } = context.caller;
  await lockNames(transaction, wanted.registrable);
  const claim = await findNameClaim(transaction, companyId, wanted);
  const found = foundInDns.get(wanted.name) ?? notFound;
  const same = claim.overlaps.find(({ name }) => name === wanted.name);
  if (same?.environmentId === environmentId) {
    const message = `This environment already has the domain "${wanted.name}".`;
    throw new Refused("domain_taken", message, { domain_name: wanted.name });
  }
  const isVerified = found.ownership.includes(ownershipRecord({ companyId, name: wanted.name }).value);
  const isEntitled = isVerified || claim.isBelowOwnProven;
  if (!isEntitled && (claim.isHeldByAnother || claim.overlaps.some((overlap) => isInTheWay(overlap, wanted, claim)))) {
    throw takenName(context, wanted.name);
  }
  if (same !== undefined) {
    const hasOlderRight = claim.ownHold !== null || claim.isBelowOwnDomain;
    const claimant = { companyId, isEntitled, hasOlderRight, ownership: found.ownership };
    if (!canBeReleased(same, claimant)) throw takenName(context, wanted.name);
    await release(transaction, same);
  }
  if (isEntitled) await endOtherHolds(transaction, { companyId, name: wanted.name });
  const { isWildcard } = wanted;
  const proofNeeded = isVerified ? null : proofNeededFor(claim, { isWildcard, leadsHere: found.leadsHere });
  return { isVerified, proofNeeded };

  /** Domains that are not served are in no one's way. */
  function isInTheWay(overlap: Overlap, { name }: NewName, { ownHold }: NameClaim): boolean {
    if (overlap.companyId === companyId || overlap.name === name || overlap.isUnproven) return false;
    // Others may have added names below a name that is held for this company. They keep them.
    return ownHold === null || !overlap.name.endsWith(`.${name}`);
  }
}

interface Claimant {
  readonly companyId: string;
  /** Whether it has proven that it owns the name. */
  readonly isEntitled: boolean;
  /** Whether it had the name before, or has the domain above it. */
  readonly hasOlderRight: boolean;
  readonly ownership: readonly string[];
}

/** Whether the company can take the very name from the environment that has it. */
function canBeReleased(same: Overlap, { companyId, isEntitled, hasOlderRight, ownership }: Claimant): boolean {
  if (same.companyId === companyId || same.isTemporary) return false;
  if (ownership.includes(ownershipRecord(same).value)) return false;
  return isEntitled || (same.isUnproven && (hasOlderRight || same.ageSeconds > unprovenSeconds));
}

export function takenName({ caller }: Context, name: string): Refused {
  const record = ownershipRecord({ companyId: caller.companyId, name });
  const advice = `If you own it, publish the record ${recordKey(record)} with the value "${record.value}", then add it again.`;
  return new Refused("domain_taken", `The domain "${name}" is in use. ${advice}`, {
    domain_name: name,
    verification_record: { name: record.name, type: record.type, value: record.value },
  });
}

async function release(transaction: DatabaseTransaction, domain: Overlap): Promise<void> {
  const id = await recordActivity(transaction, {
    companyId: domain.companyId,
    siteId: domain.siteId,
    category: "siteActions",
    type: "releaseDomain",
    parameters: { domainName: domain.name, siteName: domain.siteName },
    actor: systemActor,
  });
  await endActivity(transaction, id, { hasFailed: false });
  await releaseDomain(transaction, domain);
}
