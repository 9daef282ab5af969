/**
 * A site that does not exist yet: is it possible, what is it called, and the rows it begins with.
 *
 * The rows hold its names from the moment the request is accepted; the operation removes them if it fails.
 */
import { randomUUID } from "node:crypto";
import type { PlainSiteCreate, SiteClone } from "@sitewright/contract/sites/newSites.ts";
import type { SiteCreate } from "@sitewright/contract/sites/sites.ts";
import type { CreateEnvironmentInput, NewContent } from "@sitewright/server/operations/sites/createEnvironment.ts";
import type { CreateSiteInput } from "@sitewright/server/operations/sites/createSite.ts";
import type { DatabaseTransaction, Json } from "@sitewright/server/store/database.ts";
import { insertPrimaryDomain } from "@sitewright/server/store/domains/domains.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { insertEnvironment } from "@sitewright/server/store/sites/environments.ts";
import { findTakenNames, insertSite, removeSite } from "@sitewright/server/store/sites/sites.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { addressOf, hostOf } from "./addresses.ts";
import { refuseTakenSiteName } from "./displayNames.ts";
import { requireRegion } from "./regions.ts";
import { numberedNames, slugOf } from "./siteName.ts";
import { planWordPress } from "./wordpress.ts";

/** What the rows of a new site say. */
interface SiteFacts {
  readonly displayName: string;
  readonly region: string;
  readonly phpVersion: string;
  /** Whether every name below its own leads to it too. */
  readonly isWildcard: boolean;
  /** Absent: what it sends is sent. */
  readonly mailDelivery?: "keep";
}

interface NewSite extends SiteFacts {
  readonly siteId: string;
  readonly environmentId: string;
}

interface InsertedSite extends NewSite {
  readonly number: number;
  readonly address: string;
}

/** Takes the site's names and starts the operation that makes it. Gives the operation's id. */
export function create(context: Context, wish: Static<typeof SiteCreate>): Promise<string> {
  if (wish.install_mode === "clone") {
    throw new Refused("install_mode_clone", 'install_mode "clone" is not for this endpoint: use POST /sites/clone.');
  }
  requireRegion(wish.region);
  const { install, plugins, passwordDigest } = planWordPress(context, wish);
  return context.inTransaction(async (transaction) => {
    const site = await insert(context, transaction, {
      displayName: wish.display_name,
      region: wish.region,
      phpVersion: context.capabilities.defaultPhpVersion,
      isWildcard: install.multisite === "subdomain",
    });
    const input: CreateSiteInput = {
      siteId: site.siteId,
      environment: { id: site.environmentId, number: site.number },
      phpVersion: site.phpVersion,
      wordpress: { ...install, address: site.address },
      plugins,
    };
    return start(context, transaction, site, { kind: "addSite", input, secret: passwordDigest });
  });
}

/** The same for a site without WordPress. */
export function createPlain(context: Context, wish: Static<typeof PlainSiteCreate>): Promise<string> {
  requireRegion(wish.region);
  return context.inTransaction(async (transaction) => {
    const site = await insert(context, transaction, {
      displayName: wish.display_name,
      region: wish.region,
      phpVersion: context.capabilities.defaultPhpVersion,
      isWildcard: false,
    });
    return start(context, transaction, site, { kind: "addPlainSite", input: inputOf(site, { kind: "plain" }) });
  });
}

/** The same for a copy of one of the company's environments. */
export function clone(context: Context, wish: Static<typeof SiteClone>): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const source = await environmentForOperation(transaction, wish.source_env_id);
    if (source?.company_id !== context.caller.companyId) throw new NotFound();
    const site = await insert(context, transaction, {
      displayName: wish.display_name,
      region: source.region,
      phpVersion: source.php_version,
      isWildcard: source.is_wildcard,
      // A copy must not write to the customers of what it is a copy of.
      mailDelivery: "keep",
    });
    const sourceAddress = addressOf(context.settings, source);
    const content = { kind: "clone", source: { id: source.id, number: source.number }, sourceAddress } as const;
    return start(context, transaction, site, {
      kind: "cloneSite",
      input: inputOf(site, content),
      alsoLocks: source.id,
    });
  });
}

function inputOf({ siteId, environmentId, number, phpVersion, address }: InsertedSite, content: NewContent) {
  const environment = { id: environmentId, number };
  return { siteId, isNewSite: true, environment, phpVersion, address, content } satisfies CreateEnvironmentInput;
}

interface Making {
  readonly kind: "addSite" | "addPlainSite" | "cloneSite";
  readonly input: Json;
  readonly secret?: string;
  /** An environment that must not change meanwhile. */
  readonly alsoLocks?: string;
}

async function start(
  context: Context,
  transaction: DatabaseTransaction,
  { siteId, environmentId, displayName }: InsertedSite,
  { alsoLocks, ...making }: Making,
): Promise<string> {
  const { operationId, isRefused } = await context.acceptOperation(transaction, {
    ...making,
    companyId: context.caller.companyId,
    siteId,
    environmentId,
    locks: alsoLocks === undefined ? [environmentId] : [environmentId, alsoLocks],
    whenBusy: context.whenBusy,
    actor: context.actor,
    activityParameters: { siteName: displayName },
  });
  // It will never run, so nobody else would give the names back.
  if (isRefused) await removeSite(transaction, siteId);
  return operationId;
}

const namesPerLook = 20;

/**
 * Inserts the site under the first free name, with its environment and domain: mostly the slug itself. Another request
 * that takes the same name at the same moment is waited for; whoever comes second goes on to the next number.
 */
async function insert(context: Context, transaction: DatabaseTransaction, facts: SiteFacts): Promise<InsertedSite> {
  const site = { ...facts, siteId: randomUUID(), environmentId: randomUUID() };
  const slug = slugOf(facts.displayName);
  const first = await insertUnder(slug, context, transaction, site);
  if (first) return first;
  for (let from = 1; ; from += namesPerLook) {
    const names = numberedNames(slug, from, from + namesPerLook - 1);
    const taken = await findTakenNames(transaction, names, context.settings.siteSuffix);
    for (const name of names.filter((candidate) => !taken.has(candidate))) {
      const inserted = await insertUnder(name, context, transaction, site);
      if (inserted) return inserted;
    }
  }
}

/** Null where the name was taken since it was looked up; throws `Refused` where it is the display name that is taken. */
async function insertUnder(
  name: string,
  context: Context,
  transaction: DatabaseTransaction,
  site: NewSite,
): Promise<InsertedSite | null> {
  const { siteId, environmentId, displayName, region, phpVersion, isWildcard } = site;
  const { companyId } = context.caller;
  if (!(await insertSite(transaction, { id: siteId, companyId, name, displayName, region }))) {
    await refuseTakenSiteName(transaction, companyId, displayName);
    return null;
  }
  const number = await insertEnvironment(transaction, {
    id: environmentId,
    siteId,
    companyId,
    name: "live",
    displayName: "Live",
    isPremium: false,
    phpVersion,
    containerId: randomUUID(),
    ...(site.mailDelivery && { mailDelivery: site.mailDelivery }),
  });
  if (number === null) throw new Error("A new site has an environment already");
  const host = hostOf(context.settings, "live", name);
  const domain = { id: randomUUID(), environmentId, siteId, companyId, name: host };
  if (await insertPrimaryDomain(transaction, { ...domain, isWildcard })) {
    return { ...site, number, address: addressOf(context.settings, { host, is_https: false }) };
  }
  await removeSite(transaction, siteId);
  return null;
}
