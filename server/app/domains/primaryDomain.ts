/** The primary domain of an environment: how a change starts, and the HTTPS redirect. */
import { randomUUID } from "node:crypto";
import { type LookUp, NoDnsAnswer } from "@sitewright/server/domains/lookUp.ts";
import { evaluateRecords, type Installation, pointingRecords, recordKey } from "@sitewright/server/domains/records.ts";
import type { ChangePrimaryDomainInput } from "@sitewright/server/operations/domains/changePrimaryDomain.ts";
import type { ForceHttps } from "@sitewright/server/store/database.ts";
import { hasCertificateFor } from "@sitewright/server/store/domains/domainCertificates.ts";
import { type CheckedDomain, checkSoon, findCheckedDomain } from "@sitewright/server/store/domains/domainChecks.ts";
import { type DomainFactsRow, domainsOfEnvironment } from "@sitewright/server/store/domains/domains.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { findForceHttps, setForceHttps } from "@sitewright/server/store/traffic/forceHttps.ts";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { addressOf } from "../sites/addresses.ts";
import { environmentInput } from "../sites/environmentInput.ts";
import { changeRoutes } from "../traffic/routeChanges.ts";
import { refuseUnknown } from "./domains.ts";

interface Change {
  readonly domain_id: string;
  readonly run_search_and_replace?: boolean;
  readonly confirm?: boolean;
}

/** Starts the change. Returns the operation's id. */
export async function change(context: Context, environmentId: string, request: Change): Promise<string> {
  if (request.confirm !== true) await refuseUnreachable(context, environmentId, request.domain_id.toLowerCase());
  return context.inTransaction(async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    const wantedId = request.domain_id.toLowerCase();
    const own = await domainsOfEnvironment(transaction, environment.id);
    const former = own.find(({ isPrimary }) => isPrimary);
    const next = own.find(({ id }) => id === wantedId);
    refuseUnknown(new Set([wantedId]), next ? [next] : []);
    if (!next || !former) throw new NotFound();
    refuseUnsuitable(environment, next);
    const isHttps = await hasCertificateFor(transaction, environment.id, next.name, new Date());
    const address = addressOf(context.settings, { host: next.name, is_https: isHttps });
    const { operationId } = await context.acceptOperation(transaction, {
      kind: "changePrimaryDomain",
      companyId: environment.company_id,
      siteId: environment.site_id,
      environmentId: environment.id,
      locks: [environment.id],
      input: {
        token: randomUUID(),
        target: environmentInput(environment),
        address,
        addressBefore: addressOf(context.settings, environment),
        isEverywhere: request.run_search_and_replace ?? false,
        domain: { id: next.id, name: next.name, isHttps },
        former: { id: former.id, name: former.name, isHttps: former.isHttps },
      } satisfies ChangePrimaryDomainInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: {
        domainName: next.name,
        environmentName: environment.display_name,
        siteName: environment.site_display_name,
      },
    });
    return operationId;
  });
}

/**
 * Throws `Refused` if the domain does not point here. Looks it up now, since the last check may be hours old. Domains that
 * can't become primary pass: they are refused later.
 */
async function refuseUnreachable(
  { database, inTransaction, lookUp, settings }: Context,
  environmentId: string,
  domainId: string,
): Promise<void> {
  const domain = await findCheckedDomain(database, domainId);
  if (domain === null || domain.environmentId !== environmentId.toLowerCase()) return;
  if (domain.setupType === "temporary" || !domain.isActive) return;
  const isHere = await pointsHere(domain, lookUp, settings);
  // The names below it may be served only once a check has seen that.
  if (isHere === true && domain.pointsHereAt === null) await inTransaction((inside) => checkSoon(inside, [domain.id]));
  if (isHere === true) return;
  const wanted = pointingRecords(domain, settings).filter(({ isRequired }) => isRequired);
  const records = wanted.map(({ type, value }) => `${type} ${value}`).join(", ");
  const message =
    isHere === null
      ? `"${domain.name}" has not been checked yet: no DNS server answered. Try again later, or send "confirm": true if its DNS points here (${records}).`
      : `"${domain.name}" does not point here (${records}), so visitors could not reach the site. Change its DNS first, or send "confirm": true.`;
  throw new Refused("confirm_needed", message, { domain_id: domainId });
}

/** Uses the result of the last check if DNS does not answer. Returns null if there was no check either. */
async function pointsHere(domain: CheckedDomain, lookUp: LookUp, installation: Installation): Promise<boolean | null> {
  try {
    const types = ["CNAME", "A", "AAAA"] as const;
    const name = `${domain.name}.`;
    const answers = types.map(async (type) => [recordKey({ type, name }), await lookUp(type, name)] as const);
    return evaluateRecords(domain, Object.fromEntries(await Promise.all(answers)), installation).pointsHere;
  } catch (error) {
    if (error instanceof NoDnsAnswer) return domain.checkedAt === null ? null : domain.pointsHereAt !== null;
    throw error;
  }
}

/** Throws `Refused` if the domain can't be the primary one. `environment.is_wildcard` means it is a subdomain multisite. */
function refuseUnsuitable(environment: EnvironmentFacts, { id, name, isActive, isWildcard }: DomainFactsRow): void {
  if (!isActive) {
    const message = `"${name}" is not served yet. GET /sites/environments/domains/${id}/verification-records shows what is missing.`;
    throw new Refused("domain_not_served", message, { domain_id: id });
  }
  if (!environment.is_wildcard || isWildcard) return;
  const message = `"${name}" was added without its subdomains, which the sites of this network use. Remove it, and add it with is_wildcardless: false.`;
  throw new Refused("network_needs_wildcard", message, { domain_id: id });
}

const typeOf = { same: "ENABLED_FOR_ALL", primary: "ENABLED_REDIRECT_TO_PRIMARY" } as const;
const forced = { ENABLED_FOR_ALL: "same", ENABLED_REDIRECT_TO_PRIMARY: "primary", DISABLED: null } as const;

type ForceHttpsType = keyof typeof forced;

function forceHttpsView(id: string, forceHttps: ForceHttps | null) {
  const type: ForceHttpsType = forceHttps === null ? "DISABLED" : typeOf[forceHttps];
  return { id, force_https_status: { type } };
}

export async function forceHttpsStatus(context: Context, environmentId: string) {
  const found = await findForceHttps(context.database, environmentId);
  if (!found) throw new NotFound();
  return forceHttpsView(found.id, found.forceHttps);
}

/** Changes the setting. The edge applies it before the request is answered. */
export async function forceHttps(context: Context, environmentId: string, type: ForceHttpsType) {
  return changeRoutes(context, async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    const { id, host } = environment;
    if (type !== "DISABLED" && !(await hasCertificateFor(transaction, id, host, new Date()))) {
      const message = `No valid certificate covers the primary domain "${host}", so redirected visitors would see a warning. Send one with PUT /sites/environments/domains/{site_domain_id}/certificate, or wait until one has been issued.`;
      throw new Refused("no_certificate", message, { domain_name: host });
    }
    await setForceHttps(transaction, id, forced[type]);
    await recordDone(context, transaction, {
      type: "setForceHttps",
      category: "siteActions",
      siteId: environment.site_id,
      parameters: {
        environmentName: environment.display_name,
        siteName: environment.site_display_name,
        forceHttps: type,
      },
    });
    return forceHttpsView(id, forced[type]);
  });
}
