/** The certificate of a domain: its state, and custom certificates. */
import { X509Certificate } from "node:crypto";
import type { CertificateReplace } from "@sitewright/contract/domains/certificates.ts";
import { namesOf } from "@sitewright/server/certificates/names.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import {
  type DomainCertificate,
  findDomainCertificate,
  lockDomain,
  removeCustom,
  withdrawReplaced,
} from "@sitewright/server/store/domains/customCertificates.ts";
import { type CheckedDomain, findCheckedDomain } from "@sitewright/server/store/domains/domainChecks.ts";
import { findOrderState, type OrderState, resetBackoff } from "@sitewright/server/store/domains/orderStates.ts";
import type { Static } from "typebox";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";
import { changeRoutes } from "../traffic/routeChanges.ts";
import { readCustom, storeCustom } from "./customCertificates.ts";

export async function show(context: Context, domainId: string) {
  const domain = await findCheckedDomain(context.database, domainId);
  if (domain === null) throw new NotFound();
  return stateOf(context, domain.id);
}

/** Replaces the certificate with a custom one. The edge uses it before the request is answered. */
export async function replace(context: Context, domainId: string, pair: Static<typeof CertificateReplace>) {
  return changeRoutes(context, async (transaction) => {
    const domain = await lockedDomain(transaction, domainId);
    const certificate = readCustom(pair, [domain.name]);
    const environment = { id: domain.environmentId, company_id: domain.companyId };
    const id = await storeCustom(context, transaction, environment, certificate);
    await withdrawReplaced(transaction, domain.id, id);
    await noteChange(context, transaction, domain, "replaceCertificate");
    return stateOf(context, domain.id, transaction);
  });
}

/** Removes the custom certificate. The edge stops using it before the request is answered. */
export async function remove(context: Context, domainId: string) {
  return changeRoutes(context, async (transaction) => {
    const domain = await lockedDomain(transaction, domainId);
    if (await removeCustom(transaction, domain.id)) {
      await resetBackoff(transaction, domain.id);
      await noteChange(context, transaction, domain, "removeCertificate");
    }
    return stateOf(context, domain.id, transaction);
  });
}

async function lockedDomain(transaction: DatabaseTransaction, domainId: string): Promise<CheckedDomain> {
  const domain = (await lockDomain(transaction, domainId)) && (await findCheckedDomain(transaction, domainId));
  if (!domain) throw new NotFound();
  return domain;
}

async function noteChange(
  context: Context,
  transaction: DatabaseTransaction,
  { name, siteId, siteName, environmentName }: CheckedDomain,
  type: "replaceCertificate" | "removeCertificate",
): Promise<void> {
  const parameters = { domainName: name, environmentName, siteName };
  await recordDone(context, transaction, { type, category: "siteActions", siteId, parameters });
}

async function stateOf(context: Context, domainId: string, database = context.database) {
  const now = new Date();
  const { acmeUrl: directory } = context;
  const certificate = await findDomainCertificate(database, domainId, now);
  const order = directory === null ? null : await findOrderState(database, domainId, { directory, now });
  return { certificate: certificate && certificateView(certificate), order: order && orderView(order) };
}

function certificateView({ source, chain, fingerprint, notBefore, notAfter, isServed }: DomainCertificate) {
  const leaf = new X509Certificate(chain);
  return {
    source,
    names: namesOf(leaf),
    issuer: leaf.issuer.trim().replaceAll("\n", ", "),
    fingerprint,
    not_before: notBefore.getTime(),
    not_after: notAfter.getTime(),
    is_served: isServed,
  };
}

function orderView({ isUnderWay, nextTryAt, failures, lastError, lastErrorAt, limitedUntil }: OrderState) {
  return {
    is_under_way: isUnderWay,
    next_try_at: nextTryAt?.getTime() ?? null,
    failures,
    last_problem: lastError === null || lastErrorAt === null ? null : { message: lastError, at: lastErrorAt.getTime() },
    limited_until: limitedUntil?.getTime() ?? null,
  };
}
