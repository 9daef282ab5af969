/** A further environment of a site: what it is called, what it begins as, and the rows it begins with. */
import { randomUUID } from "node:crypto";
import type { EnvironmentCreate } from "@sitewright/contract/sites/newEnvironments.ts";
import type { CreateEnvironmentInput, NewContent } from "@sitewright/server/operations/sites/createEnvironment.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { insertPrimaryDomain } from "@sitewright/server/store/domains/domains.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { insertEnvironment, removeEnvironmentRows } from "@sitewright/server/store/sites/environments.ts";
import { siteForAddition } from "@sitewright/server/store/sites/sites.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { addressOf, hostOf } from "./addresses.ts";
import { refuseTakenEnvironmentName } from "./displayNames.ts";
import { environmentNames } from "./environmentName.ts";
import { planWordPress } from "./wordpress.ts";

interface Named {
  readonly display_name: string;
  readonly is_premium: boolean;
}

/** What the rows of a new environment say. */
interface Facts {
  readonly siteId: string;
  readonly siteName: string;
  readonly siteDisplayName: string;
  readonly displayName: string;
  readonly isPremium: boolean;
  readonly phpVersion: string;
  /** Whether every name below its own leads to it too. */
  readonly isWildcard: boolean;
}

interface Inserted extends Facts {
  readonly id: string;
  readonly number: number;
  readonly address: string;
}

/** Takes the name and starts the operation that makes the environment, with a WordPress. Gives the operation's id. */
export function create(context: Context, siteId: string, wish: Static<typeof EnvironmentCreate>): Promise<string> {
  const { install, plugins, passwordDigest } = planWordPress(context, wish);
  return context.inTransaction(async (transaction) => {
    const facts = await factsOf(context, transaction, siteId, wish);
    const environment = await insert(context, transaction, {
      ...facts,
      isWildcard: install.multisite === "subdomain",
    });
    const input = inputOf(environment, { kind: "wordpress", ...install, plugins });
    return start(context, transaction, environment, { kind: "addEnvironment", input, secret: passwordDigest });
  });
}

/** The same without WordPress. */
export function createPlain(context: Context, siteId: string, wish: Named): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await insert(context, transaction, await factsOf(context, transaction, siteId, wish));
    return start(context, transaction, environment, {
      kind: "addPlainEnvironment",
      input: inputOf(environment, { kind: "plain" }),
    });
  });
}

/** The same as a copy of another environment of the site. */
export function clone(
  context: Context,
  siteId: string,
  wish: Named & { readonly source_env_id: string },
): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const source = await environmentForOperation(transaction, wish.source_env_id);
    const facts = await factsOf(context, transaction, siteId, wish);
    if (source?.site_id !== siteId.toLowerCase()) {
      throw new Refused(
        "not_of_this_site",
        `source_env_id is not an environment of the site ${facts.siteDisplayName}.`,
        {
          fields: ["source_env_id"],
        },
      );
    }
    const environment = await insert(context, transaction, {
      ...facts,
      phpVersion: source.php_version,
      isWildcard: source.is_wildcard,
    });
    const sourceAddress = addressOf(context.settings, source);
    const content = { kind: "clone", source: { id: source.id, number: source.number }, sourceAddress } as const;
    const input = inputOf(environment, content);
    return start(context, transaction, environment, { kind: "cloneEnvironment", input, alsoLocks: source.id });
  });
}

async function factsOf(
  { capabilities }: Context,
  transaction: DatabaseTransaction,
  siteId: string,
  wish: Named,
): Promise<Facts> {
  const site = await siteForAddition(transaction, siteId);
  if (!site) throw new NotFound();
  if (site.isEnding) {
    throw new Refused("site_being_deleted", `The site ${site.display_name} is being deleted.`);
  }
  return {
    siteId: site.id,
    siteName: site.name,
    siteDisplayName: site.display_name,
    displayName: wish.display_name,
    isPremium: wish.is_premium,
    phpVersion: capabilities.defaultPhpVersion,
    isWildcard: false,
  };
}

function inputOf({ siteId, id, number, phpVersion, address }: Inserted, content: NewContent) {
  const environment = { id, number };
  return { siteId, isNewSite: false, environment, phpVersion, address, content } satisfies CreateEnvironmentInput;
}

interface Making {
  readonly kind: "addEnvironment" | "addPlainEnvironment" | "cloneEnvironment";
  readonly input: CreateEnvironmentInput;
  readonly secret?: string;
  /** An environment that must not change meanwhile. */
  readonly alsoLocks?: string;
}

async function start(
  context: Context,
  transaction: DatabaseTransaction,
  { id, siteId, displayName, siteDisplayName }: Inserted,
  { alsoLocks, ...making }: Making,
): Promise<string> {
  const { operationId, isRefused } = await context.acceptOperation(transaction, {
    ...making,
    companyId: context.caller.companyId,
    siteId,
    environmentId: id,
    locks: alsoLocks === undefined ? [id] : [id, alsoLocks],
    whenBusy: context.whenBusy,
    actor: context.actor,
    activityParameters: { environmentName: displayName, siteName: siteDisplayName },
  });
  // It will never run, so nobody else would give the name back.
  if (isRefused) await removeEnvironmentRows(transaction, id);
  return operationId;
}

/**
 * Inserts the environment under the first free name, with its domain: mostly the slug itself. Throws `Refused` where the
 * site has an environment of that display name.
 */
async function insert(context: Context, transaction: DatabaseTransaction, facts: Facts): Promise<Inserted> {
  const { siteId, displayName } = facts;
  await refuseTakenEnvironmentName(transaction, siteId, displayName);
  for (const name of environmentNames(displayName)) {
    const inserted = await insertUnder(name, context, transaction, facts);
    if (inserted) return inserted;
  }
  throw new Error(`There are too many environments with names like ${displayName}`);
}

/** Null where the name, or the address that follows from it, is taken. */
async function insertUnder(
  name: string,
  context: Context,
  transaction: DatabaseTransaction,
  facts: Facts,
): Promise<Inserted | null> {
  const { siteId, siteName, displayName, isPremium, phpVersion, isWildcard } = facts;
  const { companyId } = context.caller;
  const id = randomUUID();
  const row = { id, siteId, companyId, name, displayName, isPremium, phpVersion, containerId: randomUUID() };
  const number = await insertEnvironment(transaction, row);
  if (number === null) {
    // Somebody else took one of the two since it was looked up.
    await refuseTakenEnvironmentName(transaction, siteId, displayName);
    return null;
  }
  const host = hostOf(context.settings, name, siteName);
  const domain = { id: randomUUID(), environmentId: id, siteId, companyId, name: host, isWildcard };
  if (await insertPrimaryDomain(transaction, domain)) {
    return { ...facts, id, number, address: addressOf(context.settings, { host, is_https: false }) };
  }
  await removeEnvironmentRows(transaction, id);
  return null;
}
