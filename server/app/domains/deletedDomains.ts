/**
 * Restores the domains of a deleted environment with their DNS records, except names that another company now uses.
 */
import { namesAbove, readDomainName } from "@sitewright/server/domains/names.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import {
  type DeletedDomain,
  type DomainOwner,
  makePrimary,
  reinsertDomain,
} from "@sitewright/server/store/domains/deletedDomains.ts";
import { lockNames } from "@sitewright/server/store/domains/domains.ts";
import { findNameClaim, type NameClaim, type Overlap } from "@sitewright/server/store/domains/nameClaims.ts";
import { putIntoZone } from "@sitewright/server/store/domains/zones.ts";
import { dnsGenerations } from "@sitewright/server/store/generations.ts";
import type { SiteHost } from "../sites/addresses.ts";

interface Inserted {
  /** Null if the temporary domain stays the primary one. */
  readonly primary: SiteHost | null;
  /** Names that are now in use elsewhere. */
  readonly leftOut: readonly string[];
}

export async function reinsertDomains(
  transaction: DatabaseTransaction,
  owner: DomainOwner,
  domains: readonly DeletedDomain[],
): Promise<Inserted> {
  const leftOut: string[] = [];
  let primary: DeletedDomain | null = null;
  for (const domain of domains) {
    if (!(await insertFree(transaction, owner, domain))) leftOut.push(domain.name);
    else if (domain.is_primary) primary = domain;
  }
  if (primary === null) return { primary: null, leftOut };
  await makePrimary(transaction, owner.environmentId, primary);
  return { primary: { host: primary.name, is_https: primary.is_https }, leftOut };
}

async function insertFree(
  transaction: DatabaseTransaction,
  owner: DomainOwner,
  domain: DeletedDomain,
): Promise<boolean> {
  const { name, registrable } = readDomainName(domain.name);
  await lockNames(transaction, registrable);
  const wanted = { name, registrable, isWildcard: domain.is_wildcard, above: namesAbove(name) };
  const claim = await findNameClaim(transaction, owner.companyId, wanted);
  if (isLost(claim, owner, domain)) return false;
  if (!(await reinsertDomain(transaction, owner, domain))) return false;
  // Otherwise the publisher of zones adds the first records.
  if (domain.records !== undefined) {
    const { id, records } = domain;
    await putIntoZone(transaction, { id, companyId: owner.companyId }, registrable, records);
    await dnsGenerations.announce(transaction);
  }
  return true;
}

/** Whether another company has the name by now, or a wildcard above it, or has proven meanwhile that it owns the name. */
function isLost(
  claim: NameClaim,
  { companyId }: DomainOwner,
  { name, proof_needed, verified_at }: DeletedDomain,
): boolean {
  const isBelow = (overlap: Overlap) => overlap.name.endsWith(`.${name}`);
  const isTaken = claim.overlaps.some(
    (overlap) => overlap.companyId !== companyId && !overlap.isUnproven && !isBelow(overlap),
  );
  // Names that were never proven are not held. They are restored as they were: not served.
  const isHeld = claim.ownHold !== null || (proof_needed === "all" && verified_at === null);
  return isTaken || claim.isHeldByAnother || !isHeld;
}
