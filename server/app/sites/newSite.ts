/**
 * Creates sites: checks the request, chooses the names, and inserts the rows.
 *
 * The rows claim the names as soon as the request is accepted; the operation removes them if it fails.
 */
import { randomUUID } from "node:crypto";
import type { PlainSiteCreate, SiteClone } from "@sitewright/contract/sites/newSites.ts";
import type { SiteCreate } from "@sitewright/contract/sites/sites.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { findTakenNames, insertSite, removeSite } from "@sitewright/server/store/sites/sites.ts";
import type { Static } from "typebox";
import { requireRoomFor } from "../company/limits.ts";
import type { Context, Region } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { cloneOf, type EnvironmentPlan, insertUnderName, type NewEnvironment, startCreation } from "./creation.ts";
import { refuseTakenSiteName } from "./displayNames.ts";
import { regionOf, requireRegion } from "./regions.ts";
import { numberedNames, slugOf } from "./siteName.ts";
import { planWordPress } from "./wordpress.ts";

/** `displayName` is the site's. */
interface SiteFacts
  extends Pick<EnvironmentPlan, "displayName" | "runtime" | "phpVersion" | "isWildcard" | "mailDelivery"> {
  /** The region's id. */
  readonly region: string;
}

/** Where a site that is not a copy is created, and under what. */
function placeIn({ capabilitiesOf }: Context, { id: region, runtime }: Region) {
  return { region, runtime, phpVersion: capabilitiesOf(runtime).defaultPhpVersion };
}

/** Claims the site's names and starts the operation that creates it, with WordPress. Returns the operation's id. */
export function create(context: Context, request: Static<typeof SiteCreate>): Promise<string> {
  if (request.install_mode === "clone") {
    throw new Refused(
      "install_mode_clone",
      'This endpoint does not accept install_mode "clone". Use POST /sites/clone.',
    );
  }
  const region = requireRegion(context, request.region);
  const { content, passwordDigest } = planWordPress(context, context.capabilitiesOf(region.runtime), request);
  return context.inTransaction(async (transaction) => {
    const environment = await insert(context, transaction, {
      displayName: request.display_name,
      ...placeIn(context, region),
      isWildcard: content.multisite === "subdomain",
    });
    return startCreation(context, transaction, environment, {
      ...ofNewSite(request),
      kind: "addSite",
      content,
      secret: passwordDigest,
    });
  });
}

/** Like `create`, without WordPress. */
export function createPlain(context: Context, request: Static<typeof PlainSiteCreate>): Promise<string> {
  const region = requireRegion(context, request.region);
  return context.inTransaction(async (transaction) => {
    const environment = await insert(context, transaction, {
      displayName: request.display_name,
      ...placeIn(context, region),
      isWildcard: false,
    });
    return startCreation(context, transaction, environment, {
      ...ofNewSite(request),
      kind: "addPlainSite",
      content: { kind: "plain" },
    });
  });
}

/** Like `create`, as a copy of one of the company's environments. */
export function clone(context: Context, request: Static<typeof SiteClone>): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const source = await environmentForOperation(transaction, request.source_env_id);
    if (source?.company_id !== context.caller.companyId) throw new NotFound();
    const environment = await insert(context, transaction, {
      displayName: request.display_name,
      region: regionOf(context.regions, source.region).id,
      runtime: source.runtime,
      phpVersion: source.php_version,
      isWildcard: source.is_wildcard,
      // A copy must not send mail to the customers of its source.
      mailDelivery: "keep",
    });
    const content = cloneOf(context, source);
    return startCreation(context, transaction, environment, { ...ofNewSite(request), kind: "cloneSite", content });
  });
}

function ofNewSite({ display_name }: { readonly display_name: string }) {
  return { isNewSite: true, activityParameters: { siteName: display_name } } as const;
}

const namesPerQuery = 20;

/**
 * Inserts the site, its environment and its domain with the first free name, usually the slug itself. An insert waits for a
 * concurrent request with the same name; the later of the two tries the next number.
 */
async function insert(context: Context, transaction: DatabaseTransaction, facts: SiteFacts): Promise<NewEnvironment> {
  await requireRoomFor(context, transaction, { sites: 1, environments: 1 });
  const slug = slugOf(facts.displayName);
  const first = await insertUnder(slug, context, transaction, facts);
  if (first) return first;
  for (let from = 1; ; from += namesPerQuery) {
    const names = numberedNames(slug, from, from + namesPerQuery - 1);
    const taken = await findTakenNames(transaction, names, context.settings.siteSuffix);
    for (const name of names.filter((candidate) => !taken.has(candidate))) {
      const inserted = await insertUnder(name, context, transaction, facts);
      if (inserted) return inserted;
    }
  }
}

/** Null if the name is taken. Throws `Refused` if the display name is taken. */
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
