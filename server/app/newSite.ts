/**
 * A site that does not exist yet: is it possible, what is it called, and the rows it begins with.
 *
 * The rows hold its names from the moment the request is accepted; the operation removes them if it fails.
 */
import { randomUUID } from "node:crypto";
import type { SiteCreate } from "@sitewright/contract/sites.ts";
import { passwordDigest } from "@sitewright/runtimes/password.ts";
import type { MultisiteKind } from "@sitewright/runtimes/runtime.ts";
import type { CreateSiteInput } from "@sitewright/server/operations/createSite.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { insertEnvironment, insertPrimaryDomain } from "@sitewright/server/store/environments.ts";
import { insertSite, isDisplayNameTaken, removeSite, takenNames } from "@sitewright/server/store/sites.ts";
import type { Static } from "typebox";
import type { Context } from "./context.ts";
import { Refused } from "./failures.ts";
import { requireRegion } from "./regions.ts";
import { numberedNames, slugOf } from "./siteName.ts";

type SiteWish = Static<typeof SiteCreate>;

export interface SitePlan {
  readonly wish: SiteWish;
  readonly multisite: MultisiteKind | null;
  readonly siteId: string;
  readonly environmentId: string;
}

/** Checks all that can be checked without the database; throws `Refused` where the site can't be. */
export function planSite(context: Context, wish: SiteWish): SitePlan {
  refuseCloning(wish);
  refusePlugins(wish);
  requireRegion(wish.region);
  requireLanguage(context, wish.wp_language);
  const multisite = chooseMultisite(context, wish);
  return { wish, multisite, siteId: randomUUID(), environmentId: randomUUID() };
}

function refuseCloning({ install_mode }: SiteWish): void {
  if (install_mode !== "clone") return;
  throw new Refused("install_mode_clone", 'install_mode "clone" is not for this endpoint: use POST /sites/clone.');
}

function refusePlugins(wish: SiteWish): void {
  const flags = ["woocommerce", "wordpressseo", "wordpress_plugin_edd"] as const;
  const fields = flags.filter((flag) => wish[flag]);
  if (fields.length === 0) return;
  throw new Refused(
    "plugins_at_creation_unsupported",
    `Plugins can't be installed while a site is created yet: send ${fields.join(", ")} as false or leave it out.`,
    { fields },
  );
}

function requireLanguage({ capabilities }: Context, locale: string): void {
  if (capabilities.locales.includes(locale)) return;
  throw new Refused(
    "unknown_language",
    `WordPress can't be installed in "${locale}" here; offered: ${capabilities.locales.join(", ")}.`,
    { wp_language: locale, offered: capabilities.locales },
  );
}

function chooseMultisite({ capabilities }: Context, wish: SiteWish): MultisiteKind | null {
  if (wish.is_subdomain_multisite && wish.is_multisite === false) {
    throw new Refused(
      "multisite_contradiction",
      "A subdomain multisite is a multisite: is_subdomain_multisite can't be true while is_multisite is false.",
    );
  }
  const kind = wish.is_subdomain_multisite ? "subdomain" : wish.is_multisite ? "subdirectory" : null;
  if (kind === null || capabilities.multisite.includes(kind)) return kind;
  throw new Refused("multisite_unsupported", `This installation can't run a ${kind} multisite.`, { kind });
}

/** Writes the site's rows and accepts the operation that makes it real, all in one transaction. */
export async function startSite(context: Context, transaction: DatabaseTransaction, plan: SitePlan): Promise<string> {
  const { wish, multisite, siteId, environmentId } = plan;
  const { companyId } = context.caller;
  const { phpVersion, number, host } = await takeName(context, transaction, plan);
  const { operationId } = await context.acceptOperation(transaction, {
    kind: "addSite",
    companyId,
    siteId,
    environmentId,
    locks: [environmentId],
    input: {
      siteId,
      environment: { id: environmentId, number },
      phpVersion,
      wordpress: {
        address: addressOf(host, context.settings.edgePort),
        title: wish.site_title,
        adminUser: wish.admin_user,
        adminEmail: wish.admin_email,
        locale: wish.wp_language,
        multisite,
      },
    } satisfies CreateSiteInput,
    secret: passwordDigest(wish.admin_password),
    whenBusy: context.whenBusy,
    actor: context.actor,
    activityParameters: { siteName: wish.display_name },
  });
  return operationId;
}

function addressOf(host: string, port: number): string {
  return port === 80 ? `http://${host}` : `http://${host}:${port}`;
}

const namesPerLook = 20;

/**
 * Inserts the site under the first free name, with its environment and domain: mostly the slug itself. Another request that takes the
 * same name at the same moment is waited for; whoever comes second goes on to the next number.
 */
async function takeName(context: Context, transaction: DatabaseTransaction, plan: SitePlan) {
  const slug = slugOf(plan.wish.display_name);
  const first = await insertUnder(slug, context, transaction, plan);
  if (first) return first;
  for (let from = 1; ; from += namesPerLook) {
    const names = numberedNames(slug, from, from + namesPerLook - 1);
    const taken = await takenNames(transaction, names, context.settings.siteSuffix);
    for (const name of names.filter((candidate) => !taken.has(candidate))) {
      const site = await insertUnder(name, context, transaction, plan);
      if (site) return site;
    }
  }
}

/** Null where the name was taken since it was looked up; throws `Refused` where it is the display name that is taken. */
async function insertUnder(name: string, context: Context, transaction: DatabaseTransaction, plan: SitePlan) {
  const { wish, siteId, environmentId, multisite } = plan;
  const { companyId } = context.caller;
  const displayName = wish.display_name;
  if (!(await insertSite(transaction, { id: siteId, companyId, name, displayName, region: wish.region }))) {
    await refuseTakenDisplayName(transaction, companyId, displayName);
    return null;
  }
  const phpVersion = context.capabilities.defaultPhpVersion;
  const number = await insertEnvironment(transaction, {
    id: environmentId,
    siteId,
    companyId,
    name: "live",
    displayName: "Live",
    phpVersion,
    containerId: randomUUID(),
  });
  const host = `${name}.${context.settings.siteSuffix}`;
  const domain = { id: randomUUID(), environmentId, siteId, companyId, name: host };
  if (await insertPrimaryDomain(transaction, { ...domain, isWildcard: multisite === "subdomain" })) {
    return { phpVersion, number, host };
  }
  await removeSite(transaction, siteId);
  return null;
}

async function refuseTakenDisplayName(
  transaction: DatabaseTransaction,
  companyId: string,
  name: string,
): Promise<void> {
  if (!(await isDisplayNameTaken(transaction, companyId, name))) return;
  throw new Refused("site_name_taken", `A site with the name "${name}" already exists.`, { display_name: name });
}
