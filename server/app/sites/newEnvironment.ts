/** Creates environments of existing sites: chooses the name and the content, and inserts the rows. */
import type { EnvironmentCreate } from "@sitewright/contract/sites/newEnvironments.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { siteForAddition } from "@sitewright/server/store/sites/sites.ts";
import type { Static } from "typebox";
import { requireRoomFor } from "../company/limits.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { cloneOf, type EnvironmentPlan, insertUnderName, type NewEnvironment, startCreation } from "./creation.ts";
import { refuseTakenEnvironmentName } from "./displayNames.ts";
import { environmentNames } from "./environmentName.ts";
import { regionOf } from "./regions.ts";
import { planWordPress } from "./wordpress.ts";

interface Named {
  readonly display_name: string;
  readonly is_premium: boolean;
}

/** Claims the name and starts the operation that creates the environment, with WordPress. Returns the operation's id. */
export async function create(
  context: Context,
  siteId: string,
  request: Static<typeof EnvironmentCreate>,
): Promise<string> {
  const site = await context.readSite(siteId);
  if (site === null) throw new NotFound();
  const { runtime } = regionOf(context.regions, site.region);
  const { content, passwordDigest } = planWordPress(context, context.capabilitiesOf(runtime), request);
  return context.inTransaction(async (transaction) => {
    const { facts, operation } = await planEnvironment(context, transaction, siteId, request);
    const isWildcard = content.multisite === "subdomain";
    const environment = await insert(context, transaction, { ...facts, isWildcard });
    const secret = passwordDigest;
    return startCreation(context, transaction, environment, { ...operation, kind: "addEnvironment", content, secret });
  });
}

/** Like `create`, without WordPress. */
export function createPlain(context: Context, siteId: string, request: Named): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const { facts, operation } = await planEnvironment(context, transaction, siteId, request);
    const environment = await insert(context, transaction, facts);
    const content = { kind: "plain" } as const;
    return startCreation(context, transaction, environment, { ...operation, kind: "addPlainEnvironment", content });
  });
}

/** Like `create`, as a copy of another environment of the site. */
export function clone(
  context: Context,
  siteId: string,
  request: Named & { readonly source_env_id: string },
): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const source = await environmentForOperation(transaction, request.source_env_id);
    const { facts, operation } = await planEnvironment(context, transaction, siteId, request);
    if (source?.site_id !== siteId.toLowerCase()) {
      const message = `source_env_id is not an environment of the site ${operation.activityParameters.siteName}.`;
      throw new Refused("not_of_this_site", message, { fields: ["source_env_id"] });
    }
    const { runtime, php_version: phpVersion, is_wildcard: isWildcard } = source;
    const environment = await insert(context, transaction, { ...facts, runtime, phpVersion, isWildcard });
    const content = cloneOf(context, source);
    return startCreation(context, transaction, environment, { ...operation, kind: "cloneEnvironment", content });
  });
}

async function planEnvironment(
  { regions, capabilitiesOf }: Context,
  transaction: DatabaseTransaction,
  siteId: string,
  { display_name: displayName, is_premium: isPremium }: Named,
) {
  const site = await siteForAddition(transaction, siteId);
  if (!site) throw new NotFound();
  if (site.isEnding) {
    throw new Refused("site_being_deleted", `The site ${site.display_name} is being deleted.`);
  }
  const { runtime } = regionOf(regions, site.region);
  const facts: EnvironmentPlan = {
    siteId: site.id,
    siteName: site.name,
    displayName,
    isPremium,
    runtime,
    phpVersion: capabilitiesOf(runtime).defaultPhpVersion,
    isWildcard: false,
  };
  const activityParameters = { environmentName: displayName, siteName: site.display_name };
  return { facts, operation: { isNewSite: false, activityParameters } };
}

/**
 * Inserts the environment and its domain with the first free name, usually the slug itself. Throws `Refused` if the
 * site has an environment with that display name.
 */
async function insert(
  context: Context,
  transaction: DatabaseTransaction,
  facts: EnvironmentPlan,
): Promise<NewEnvironment> {
  const { siteId, displayName } = facts;
  await requireRoomFor(context, transaction, { environments: 1 });
  await refuseTakenEnvironmentName(transaction, siteId, displayName);
  for (const name of environmentNames(displayName)) {
    const inserted = await insertUnderName(context, transaction, name, facts);
    if (inserted) return inserted;
    // A concurrent request may have taken the display name rather than the name.
    await refuseTakenEnvironmentName(transaction, siteId, displayName);
  }
  throw new Error(`There are too many environments with names like ${displayName}`);
}
