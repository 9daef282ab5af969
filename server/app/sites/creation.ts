/** Shared by new sites and new environments: inserts the rows and starts the operation that creates the content. */
import { randomUUID } from "node:crypto";
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import type { CreateEnvironmentInput, NewContent } from "@sitewright/server/operations/sites/createEnvironment.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { insertPrimaryDomain, isDomainNameTaken } from "@sitewright/server/store/domains/domains.ts";
import type { EnvironmentFacts } from "@sitewright/server/store/sites/environmentStates.ts";
import { insertEnvironment, removeEnvironmentRows } from "@sitewright/server/store/sites/environments.ts";
import { removeSite } from "@sitewright/server/store/sites/sites.ts";
import type { Context } from "../context.ts";
import { addressOf, hostOf } from "./addresses.ts";
import { environmentInput } from "./environmentInput.ts";

/** The row of a new environment. */
export interface EnvironmentPlan {
  readonly siteId: string;
  readonly siteName: string;
  readonly displayName: string;
  readonly isPremium: boolean;
  readonly runtime: string;
  readonly phpVersion: string;
  /** Whether all subdomains of its host belong to it, as a subdomain multisite needs. */
  readonly isWildcard: boolean;
  /** Omit to deliver mail. */
  readonly mailDelivery?: "keep";
}

export interface NewEnvironment extends EnvironmentPlan {
  readonly id: string;
  readonly number: number;
  readonly address: string;
}

/** Inserts an environment and its primary domain. Inserts nothing and returns null if the name or the host is taken. */
export async function insertUnderName(
  { settings, caller: { companyId } }: Context,
  transaction: DatabaseTransaction,
  name: string,
  facts: EnvironmentPlan,
): Promise<NewEnvironment | null> {
  const { siteName, isWildcard, ...columns } = facts;
  const { siteId } = facts;
  const host = hostOf(settings, name, siteName);
  // Checked first, so that a taken host takes no number.
  if (await isDomainNameTaken(transaction, host)) return null;
  const id = randomUUID();
  const number = await insertEnvironment(transaction, { ...columns, id, companyId, name, containerId: randomUUID() });
  if (number === null) return null;
  const domain = { id: randomUUID(), environmentId: id, siteId, companyId, name: host, isWildcard };
  if (await insertPrimaryDomain(transaction, domain)) {
    return { ...facts, id, number, address: addressOf(settings, { host, is_https: false }) };
  }
  await removeEnvironmentRows(transaction, id);
  return null;
}

interface Creation {
  readonly kind: OperationKind;
  readonly isNewSite: boolean;
  readonly content: NewContent;
  /** Digest of the administrator's password. */
  readonly secret?: string;
  readonly activityParameters: Readonly<Record<string, string>>;
}

/** Starts the operation that creates an inserted environment or site. Returns the operation's id. */
export async function startCreation(
  context: Context,
  transaction: DatabaseTransaction,
  { id, number, siteId, phpVersion, address }: NewEnvironment,
  { isNewSite, content, ...request }: Creation,
): Promise<string> {
  const { companyId } = context.caller;
  const environment = { id, number, companyId };
  const { operationId, isRefused } = await context.acceptOperation(transaction, {
    ...request,
    input: { siteId, isNewSite, environment, phpVersion, address, content } satisfies CreateEnvironmentInput,
    companyId,
    siteId,
    environmentId: id,
    // The source must not change while it is copied.
    locks: content.kind === "clone" ? [id, content.source.id] : [id],
    whenBusy: context.whenBusy,
    actor: context.actor,
  });
  // It will never run, so the names must be released here.
  if (isRefused) await (isNewSite ? removeSite(transaction, siteId) : removeEnvironmentRows(transaction, id));
  return operationId;
}

/** The content of a copy of `source`. */
export function cloneOf({ settings }: Context, source: EnvironmentFacts): NewContent {
  return {
    kind: "clone",
    source: environmentInput(source),
    sourceAddress: addressOf(settings, source),
  };
}
