/** Adding a domain to an environment: what may be asked for, and what starts it. */
import { randomUUID } from "node:crypto";
import type { DomainAdd } from "@sitewright/contract/domains/domains.ts";
import type { ReadCertificate } from "@sitewright/server/certificates/checkCustom.ts";
import { firstRecords } from "@sitewright/server/domains/zoneRecords.ts";
import type { AddDomainInput } from "@sitewright/server/operations/domains/addDomain.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { removeCertificate } from "@sitewright/server/store/domains/domainCertificates.ts";
import { insertDomain, removeDomains } from "@sitewright/server/store/domains/domains.ts";
import { putIntoZone } from "@sitewright/server/store/domains/zones.ts";
import { dnsGenerations } from "@sitewright/server/store/generations.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { keepCustom, readCustom } from "./customCertificates.ts";
import { askForProofs, readWantedName, takeName, takenName, type WantedName } from "./domainNames.ts";

type Wish = Static<typeof DomainAdd>;

/** Returns the id of the operation that makes the edge answer for the name. */
export async function add(context: Context, environmentId: string, wish: Wish): Promise<string> {
  const names = namesOf(context, wish);
  const certificate = certificateOf(wish, names);
  const proofs = await askForProofs(context, names);
  return context.inTransaction(async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    for (const wanted of names) await takeName(context, transaction, wanted, proofs);
    const domains = await insert(context, transaction, environment, { names, setupType: wish.setup_type ?? "quick" });
    const certificateId = certificate && (await keepCustom(context, transaction, environment, certificate));
    const { operationId, isRefused } = await context.acceptOperation(transaction, {
      kind: "addDomain",
      companyId: environment.company_id,
      siteId: environment.site_id,
      environmentId: environment.id,
      locks: [environment.id],
      input: { domains, certificateId, isServedAtOnce: wish.setup_type !== "avoid_downtime" } satisfies AddDomainInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: {
        domainName: domains.map(({ name }) => name).join(", "),
        environmentName: environment.display_name,
        siteName: environment.site_display_name,
      },
    });
    // It will never run, so the names must be released here.
    if (isRefused) await removeDomains(transaction, ids(domains));
    if (isRefused && certificateId !== null) await removeCertificate(transaction, certificateId);
    return operationId;
  });
}

type Inserted = AddDomainInput["domains"];

const ids = (domains: Inserted) => domains.map(({ id }) => id);

function namesOf(context: Context, wish: Wish): readonly WantedName[] {
  const isWildcard = !(wish.is_wildcardless ?? false);
  const wanted = readWantedName(context, wish.domain_name, isWildcard);
  if (!wish.add_with_www_subdomain) return [wanted];
  if (!isWildcard) {
    const message =
      "add_with_www_subdomain and is_wildcardless: true contradict each other: www is a name below the domain. Add the two names one after the other.";
    throw new Refused("www_without_wildcard", message, { fields: ["add_with_www_subdomain", "is_wildcardless"] });
  }
  return [wanted, readWantedName(context, `www.${wanted.name}`, false)];
}

/** Null if there is none of the customer's own. Throws `Refused`. */
function certificateOf(wish: Wish, names: readonly WantedName[]): ReadCertificate | null {
  const { custom_ssl_key: key, custom_ssl_cert: cert } = wish;
  if (key === undefined && cert === undefined) return null;
  if (key === undefined || cert === undefined) {
    const field = key === undefined ? "custom_ssl_key" : "custom_ssl_cert";
    const message = `${field} is missing: a custom certificate needs custom_ssl_key and custom_ssl_cert.`;
    throw new Refused("custom_certificate_refused", message, { field });
  }
  return readCustom(
    { custom_ssl_key: key, custom_ssl_cert: cert },
    names.map(({ name }) => name),
  );
}

async function insert(
  context: Context,
  transaction: DatabaseTransaction,
  environment: EnvironmentFacts,
  { names, setupType }: { readonly names: readonly WantedName[]; readonly setupType: "quick" | "avoid_downtime" },
): Promise<Inserted> {
  const place = { environmentId: environment.id, siteId: environment.site_id, companyId: environment.company_id };
  const { settings } = context;
  const inserted: { readonly id: string; readonly name: string }[] = [];
  for (const { name, isWildcard, registrable } of names) {
    const id = randomUUID();
    if (!(await insertDomain(transaction, { id, ...place, name, isWildcard, setupType }))) {
      throw takenName(context, name);
    }
    const own = { id, companyId: place.companyId };
    await putIntoZone(transaction, own, registrable, firstRecords({ name, isWildcard }, settings.edgeAddresses));
    inserted.push({ id, name });
  }
  await dnsGenerations.announce(transaction);
  return inserted;
}
