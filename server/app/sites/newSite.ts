/**
 * A site that does not exist yet: whether it is allowed, its names, and the rows it begins with.
 *
 * The rows hold its names from the moment the request is accepted; the operation removes them if it fails.
 */
import { randomUUID } from "node:crypto";
import type { PlainSiteCreate, SiteClone } from "@sitewright/contract/sites/newSites.ts";
import type { SiteCreate } from "@sitewright/contract/sites/sites.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { findTakenNames, insertSite, removeSite } from "@sitewright/server/store/sites/sites.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { cloneOf, type EnvironmentPlan, insertUnderName, type NewEnvironment, startCreation } from "./creation.ts";
import { refuseTakenSiteName } from "./displayNames.ts";
import { requireRegion } from "./regions.ts";
import { numberedNames, slugOf } from "./siteName.ts";
import { planWordPress } from "./wordpress.ts";

/** `displayName` is the site's. */
interface SiteFacts extends Pick<EnvironmentPlan, "displayName" | "phpVersion" | "isWildcard" | "mailDelivery"> {
  readonly region: string;
}

/** Takes the site's names and starts the operation that makes it. Returns the operation's id. */
export function create(context: Context, wish: Static<typeof SiteCreate>): Promise<string> {
  if (wish.install_mode === "clone") {
    throw new Refused("install_mode_clone", 'install_mode "clone" is not for this endpoint: use POST /sites/clone.');
  }
  requireRegion(wish.region);
  const { content, passwordDigest } = planWordPress(context, wish);
  return context.inTransaction(async (transaction) => {
    const environment = await insert(context, transaction, {
      displayName: wish.display_name,
      region: wish.region,
      phpVersion: context.capabilities.defaultPhpVersion,
      isWildcard: content.multisite === "subdomain",
    });
    return startCreation(context, transaction, environment, {
      ...ofNewSite(wish),
      kind: "addSite",
      content,
      secret: passwordDigest,
    });
  });
}

/** The same for a site without WordPress. */
export function createPlain(context: Context, wish: Static<typeof PlainSiteCreate>): Promise<string> {
  requireRegion(wish.region);
  return context.inTransaction(async (transaction) => {
    const environment = await insert(context, transaction, {
      displayName: wish.display_name,
      region: wish.region,
      phpVersion: context.capabilities.defaultPhpVersion,
      isWildcard: false,
    });
    return startCreation(context, transaction, environment, {
      ...ofNewSite(wish),
      kind: "addPlainSite",
      content: { kind: "plain" },
    });
  });
}

/** The same for a copy of one of the company's environments. */
export function clone(context: Context, wish: Static<typeof SiteClone>): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const source = await environmentForOperation(transaction, wish.source_env_id);
    if (source?.company_id !== context.caller.companyId) throw new NotFound();
    const environment = await insert(context, transaction, {
      displayName: wish.display_name,
      region: source.region,
      phpVersion: source.php_version,
      isWildcard: source.is_wildcard,
      // A copy must not send mail to the customers of its source.
      mailDelivery: "keep",
    });
    const content = cloneOf(context, source);
    return startCreation(context, transaction, environment, { ...ofNewSite(wish), kind: "cloneSite", content });
  });
}

function ofNewSite({ display_name }: { readonly display_name: string }) {
  return { isNewSite: true, activityParameters: { siteName: display_name } } as const;
}

const namesPerLook = 20;

/**
 * Inserts the site under the first free name, with its environment and domain: mostly the slug itself. An insert waits for a
 * concurrent request that takes the same name; the later of the two goes on to the next number.
 */
async function insert(context: Context, transaction: DatabaseTransaction, facts: SiteFacts): Promise<NewEnvironment> {
  const slug = slugOf(facts.displayName);
  const first = await insertUnder(slug, context, transaction, facts);
  if (first) return first;
  for (let from = 1; ; from += namesPerLook) {
    const names = numberedNames(slug, from, from + namesPerLook - 1);
    const taken = await findTakenNames(transaction, names, context.settings.siteSuffix);
    for (const name of names.filter((candidate) => !taken.has(candidate))) {
      const inserted = await insertUnder(name, context, transaction, facts);
      if (inserted) return inserted;
    }
  }
}

/** Null if the name is taken; throws `Refused` if the display name is. */
async function insertUnder(
  name: string,
  context: Context,
  transaction: DatabaseTransaction,
  { displayName, region, ...facts }: SiteFacts,
): Promise<NewEnvironment | null> {
  const siteId = randomUUID();
  const { companyId } = context.caller;
  if (!(await insertSite(transaction, { id: siteId, companyId, name, displayName, region }))) {
    await refuseTakenSiteName(transaction, companyId, displayName);
    return null;
  }
  const live = { ...facts, siteId, siteName: name, displayName: "Live", isPremium: false };
  const environment = await insertUnderName(context, transaction, "live", live);
  if (environment === null) await removeSite(transaction, siteId);
  return environment;
}
