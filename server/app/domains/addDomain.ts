/** Adds domains to environments: checks the request, inserts the rows, and starts the operation. */
import { randomUUID } from "node:crypto";
import type { DomainAdd } from "@sitewright/contract/domains/domains.ts";
import type { ReadCertificate } from "@sitewright/server/certificates/checkCustom.ts";
import { ownershipRecord } from "@sitewright/server/domains/records.ts";
import { firstRecords } from "@sitewright/server/domains/zoneRecords.ts";
import type { AddDomainInput } from "@sitewright/server/operations/domains/addDomain.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { removeCertificate } from "@sitewright/server/store/domains/domainCertificates.ts";
import { insertDomain, type NewOwnDomain, removeDomains } from "@sitewright/server/store/domains/domains.ts";
import type { NewName } from "@sitewright/server/store/domains/nameClaims.ts";
import { putIntoZone } from "@sitewright/server/store/domains/zones.ts";
import { dnsGenerations } from "@sitewright/server/store/generations.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Static } from "typebox";
import { requireRoomFor } from "../company/limits.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { readCustom, storeCustom } from "./customCertificates.ts";
import { lookUpNames, readWantedName, takeName, takenName } from "./domainNames.ts";

type AddRequest = Static<typeof DomainAdd>;

/** Starts the operation that makes the edge serve the domain. Returns the operation's id. */
export async function add(context: Context, environmentId: string, request: AddRequest): Promise<string> {
  const names = namesOf(context, request);
  const certificate = certificateOf(request, names);
  const foundInDns = await lookUpNames(context, names);
  return context.inTransaction(async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    await requireRoomFor(context, transaction, { domains: names.length });
    const setupType = request.setup_type ?? "quick";
    const domains: Inserted[number][] = [];
    // One after the other, because the first name may prove the second.
    for (const wanted of names) {
      const taken = await takeName(context, transaction, wanted, { environmentId: environment.id, foundInDns });
      domains.push(await insert(context, transaction, environment, { ...wanted, ...taken, setupType }));
    }
    await dnsGenerations.announce(transaction);
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

function namesOf(context: Context, request: AddRequest): readonly NewName[] {
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
function certificateOf(request: AddRequest, names: readonly NewName[]): ReadCertificate | null {
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

type Added = NewName & Pick<NewOwnDomain, "setupType" | "isVerified" | "proofNeeded">;

async function insert(
  context: Context,
  transaction: DatabaseTransaction,
  environment: EnvironmentFacts,
  { name, isWildcard, registrable, ...proof }: Added,
): Promise<Inserted[number]> {
  const companyId = environment.company_id;
  const id = randomUUID();
  const owner = { environmentId: environment.id, siteId: environment.site_id, companyId };
  if (!(await insertDomain(transaction, { id, ...owner, name, isWildcard, ...proof }))) throw takenName(context, name);
  const records = firstRecords({ name, isWildcard }, context.settings.edgeAddresses);
  await putIntoZone(transaction, { id, companyId }, registrable, records);
  return { id, name, recordToPublish: proof.proofNeeded === "all" ? proofOf({ companyId, name }) : null };
}

function proofOf(domain: { readonly companyId: string; readonly name: string }) {
  const { name, type, value } = ownershipRecord(domain);
  return { name, type, value };
}
