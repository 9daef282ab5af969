/** Confirms on the operator's word that a company owns a domain, if it can't publish the record. */
import { NotADomainName, readDomainName } from "@sitewright/server/domains/names.ts";
import { recordOperatorAction } from "@sitewright/server/store/company/activity.ts";
import type { Actor, Database } from "@sitewright/server/store/database.ts";
import { lockNames } from "@sitewright/server/store/domains/domains.ts";
import { markProven, noteProof, type ProvenDomain } from "@sitewright/server/store/domains/proofs.ts";
import { dnsGenerations, edgeGenerations } from "@sitewright/server/store/generations.ts";

/** Returns null if no company has such a domain without a proof. The edge and the DNS server serve it within seconds. */
export async function confirmOwnership(database: Database, text: string, actor: Actor): Promise<ProvenDomain | null> {
  const wanted = readName(text);
  if (wanted === null) return null;
  return database.transaction().execute(async (transaction) => {
    await lockNames(transaction, wanted.registrable);
    const domain = await markProven(transaction, wanted.name);
    if (domain === null) return null;
    await noteProof(transaction, domain);
    const parameters = { companyId: domain.companyId, domainName: domain.name };
    await recordOperatorAction(transaction, { type: "confirmDomain", parameters, actor });
    await edgeGenerations.announce(transaction);
    await dnsGenerations.announce(transaction);
    return domain;
  });
}

function readName(text: string) {
  try {
    return readDomainName(text);
  } catch (error) {
    if (error instanceof NotADomainName) return null;
    throw error;
  }
}
