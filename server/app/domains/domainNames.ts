/** Which domain names a company can add: their syntax, who owns them, and who uses them. */
import { NotADomainName, namesAbove, readDomainName, reservedReason } from "@sitewright/server/domains/names.ts";
import { ownershipRecord, recordKey } from "@sitewright/server/domains/records.ts";
import { endActivity, recordActivity, systemActor } from "@sitewright/server/store/company/activity.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import {
  findOverlaps,
  lockNames,
  type NewName,
  type Overlap,
  releaseDomain,
} from "@sitewright/server/store/domains/domains.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";

/** A valid domain name to be added. Whether it is free has not been checked. */
export interface WantedName extends NewName {
  readonly registrable: string;
}

/** Throws `Refused` if the text is not a domain name, or a reserved one. */
export function readWantedName({ settings }: Context, text: string, isWildcard: boolean): WantedName {
  try {
    const { name, registrable } = readDomainName(text);
    const reason = reservedReason(name, isWildcard, settings.siteSuffix);
    if (reason !== null) throw new Refused("domain_reserved", `"${name}" ${reason}.`, { field: "domain_name" });
    return { name, registrable, isWildcard, above: namesAbove(name) };
  } catch (error) {
    if (!(error instanceof NotADomainName)) throw error;
    throw new Refused("not_a_domain_name", error.message, { field: "domain_name" });
  }
}

/** The values of each name's ownership record in DNS. Names that were not looked up are missing. */
type OwnershipProofs = ReadonlyMap<string, readonly string[]>;

/**
 * Looks up the ownership records of names that overlap with other companies' names. This happens before the transaction,
 * since a resolver may take seconds; `takeName` decides.
 */
export async function askForProofs(context: Context, names: readonly WantedName[]): Promise<OwnershipProofs> {
  const proofs = new Map<string, readonly string[]>();
  for (const wanted of names) {
    const overlaps = await findOverlaps(context.database, wanted);
    if (!overlaps.some((overlap) => isForeign(context, overlap))) continue;
    const { type, name } = ownershipRecord({ companyId: context.caller.companyId, name: wanted.name });
    // Without an answer, nothing is proven.
    proofs.set(wanted.name, await context.lookUp(type, name).catch(() => []));
  }
  return proofs;
}

function isForeign({ caller }: Context, { companyId }: Overlap): boolean {
  return companyId !== caller.companyId;
}

/**
 * Checks that the company can have the name, and locks all names below the same registrable name until the transaction ends.
 * A company that proves by DNS that it owns a name takes it from one that doesn't; overlaps don't matter then, since the edge
 * prefers the longer name. Throws `Refused` if the environment has the name, and otherwise the same `Refused` for every
 * reason.
 */
export async function takeName(
  context: Context,
  transaction: DatabaseTransaction,
  wanted: WantedName,
  { environmentId, proofs }: { readonly environmentId: string; readonly proofs: OwnershipProofs },
): Promise<void> {
  await lockNames(transaction, wanted.registrable);
  const overlaps = await findOverlaps(transaction, wanted);
  const own = ownershipRecord({ companyId: context.caller.companyId, name: wanted.name });
  const values = proofs.get(wanted.name) ?? [];
  const isProven = values.includes(own.value);
  const same = overlaps.find(({ name }) => name === wanted.name);
  if (same?.environmentId === environmentId) {
    const message = `This environment already has the domain "${wanted.name}".`;
    throw new Refused("domain_taken", message, { domain_name: wanted.name });
  }
  const isForeignOverlap = overlaps.some((overlap) => isForeign(context, overlap));
  if (same === undefined && (isProven || !isForeignOverlap)) return;
  if (same !== undefined && isProven && isForeign(context, same) && !same.isTemporary) {
    const theirs = ownershipRecord({ companyId: same.companyId, name: same.name });
    if (!values.includes(theirs.value)) return release(transaction, same);
  }
  throw takenName(context, wanted.name);
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
