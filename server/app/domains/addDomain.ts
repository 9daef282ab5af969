/** Adds domains to environments: checks the request, inserts the rows, and starts the operation. */
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
import { readCustom, storeCustom } from "./customCertificates.ts";
import { askForProofs, readWantedName, takeName, takenName, type WantedName } from "./domainNames.ts";

type AddRequest = Static<typeof DomainAdd>;

/** Starts the operation that makes the edge serve the domain. Returns the operation's id. */
export async function add(context: Context, environmentId: string, request: AddRequest): Promise<string> {
  const names = namesOf(context, request);
  const certificate = certificateOf(request, names);
  const proofs = await askForProofs(context, names);
  return context.inTransaction(async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    for (const wanted of names) await takeName(context, transaction, wanted, { environmentId: environment.id, proofs });
    const domains = await insert(context, transaction, environment, {
      names,
      setupType: request.setup_type ?? "quick",
    });
    const certificateId = certificate && (await storeCustom(context, transaction, environment, certificate));
    const { operationId, isRefused } = await context.acceptOperation(transaction, {
      kind: "addDomain",
      companyId: environment.company_id,
      siteId: environment.site_id,
      environmentId: environment.id,
      locks: [environment.id],
      input: {
        domains,
        certificateId,
        isServedAtOnce: request.setup_type !== "avoid_downtime",
      } satisfies AddDomainInput,
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

function namesOf(context: Context, request: AddRequest): readonly WantedName[] {
  const isWildcard = !(request.is_wildcardless ?? false);
  const wanted = readWantedName(context, request.domain_name, isWildcard);
  if (!request.add_with_www_subdomain) return [wanted];
  if (!isWildcard) {
    const message =
      "add_with_www_subdomain contradicts is_wildcardless: true, since www is a subdomain. Add the two names with separate requests.";
    throw new Refused("www_without_wildcard", message, { fields: ["add_with_www_subdomain", "is_wildcardless"] });
  }
  return [wanted, readWantedName(context, `www.${wanted.name}`, false)];
}

/** The custom certificate, or null if the request has none. Throws `Refused` if it can't be used. */
function certificateOf(request: AddRequest, names: readonly WantedName[]): ReadCertificate | null {
  const { custom_ssl_key: key, custom_ssl_cert: cert } = request;
  if (key === undefined && cert === undefined) return null;
  if (key === undefined || cert === undefined) {
    const field = key === undefined ? "custom_ssl_key" : "custom_ssl_cert";
    const message = `${field} is missing. A custom certificate needs custom_ssl_key and custom_ssl_cert.`;
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
  const owner = { environmentId: environment.id, siteId: environment.site_id, companyId: environment.company_id };
  const { settings } = context;
  const inserted: { readonly id: string; readonly name: string }[] = [];
  for (const { name, isWildcard, registrable } of names) {
    const id = randomUUID();
    if (!(await insertDomain(transaction, { id, ...owner, name, isWildcard, setupType }))) {
      throw takenName(context, name);
    }
    const domain = { id, companyId: owner.companyId };
    await putIntoZone(transaction, domain, registrable, firstRecords({ name, isWildcard }, settings.edgeAddresses));
    inserted.push({ id, name });
  }
  await dnsGenerations.announce(transaction);
  return inserted;
}
