/** Inserts valid rows for tests. */
import { randomBytes, randomUUID } from "node:crypto";
import { recordActivity, systemActor } from "../company/activity.ts";
import { insertApiKey, type NewApiKey } from "../company/apiKeys.ts";
import { insertCompany } from "../company/companies.ts";
import { insertUser } from "../company/users.ts";
import type { Database } from "../database.ts";
import { insertDomain, insertPrimaryDomain, type NewOwnDomain, setActive } from "../domains/domains.ts";
import { endOperation, insertOperation } from "../operations.ts";
import { insertEnvironment } from "../sites/environments.ts";
import { insertSite, type NewSite } from "../sites/sites.ts";
import { insertMail, type NewMail } from "../traffic/mails.ts";

/** Adds a company with an owner and returns both ids. */
export async function addCompany(database: Database): Promise<{ companyId: string; userId: string }> {
  const [companyId, userId] = [randomUUID(), randomUUID()];
  await database.transaction().execute(async (transaction) => {
    await insertCompany(transaction, { id: companyId, name: "Test" });
    const email = `${userId}@example.com`;
    const names = { fullName: "Ada Lovelace", firstName: "Ada" };
    await insertUser(transaction, { id: userId, companyId, email, ...names, role: "owner", passwordHash: "" });
  });
  return { companyId, userId };
}

/** Adds an API key of the owner; by default it never expires. */
export async function addApiKey(
  database: Database,
  owner: { readonly companyId: string; readonly userId: string },
  more: Partial<NewApiKey> = {},
): Promise<NewApiKey> {
  const key = {
    id: randomUUID(),
    name: "Key",
    secretHash: randomBytes(32),
    scopes: null,
    expiresAt: null,
    ...owner,
    ...more,
  };
  await database.transaction().execute((transaction) => insertApiKey(transaction, key));
  return key;
}

export function siteOf(companyId: string, more: Partial<NewSite> = {}): NewSite {
  const name = `s-${randomUUID().slice(0, 8)}`;
  return { id: randomUUID(), companyId, name, displayName: name, region: "europe-west3", ...more };
}

/** Adds a site with one served environment and its domain, and returns their ids. */
export async function addSite(database: Database, companyId: string, more: Partial<NewSite> = {}) {
  const site = siteOf(companyId, more);
  const environmentId = randomUUID();
  await database.transaction().execute(async (transaction) => {
    await insertSite(transaction, site);
    const ids = { siteId: site.id, companyId };
    const names = { name: "live", displayName: "Live", isPremium: false };
    const php = { runtime: "playground", phpVersion: "8.3", containerId: randomUUID() };
    await insertEnvironment(transaction, { id: environmentId, ...ids, ...names, ...php });
    const domain = { id: randomUUID(), environmentId, ...ids, name: `${site.name}.localhost`, isWildcard: false };
    await insertPrimaryDomain(transaction, domain);
    await transaction.updateTable("sites").set({ state: "live" }).where("id", "=", site.id).execute();
    await transaction.updateTable("environments").set({ state: "serving" }).where("id", "=", environmentId).execute();
  });
  return { ...site, environmentId };
}

/** Adds a customer's domain, served by default, and returns its id. */
export async function addOwnDomain(
  database: Database,
  environmentId: string,
  more: Partial<NewOwnDomain> & { readonly isActive?: boolean } = {},
): Promise<string> {
  const { isActive = true, ...values } = more;
  const ids = await database
    .selectFrom("environments")
    .select(["site_id as siteId", "company_id as companyId"])
    .where("id", "=", environmentId)
    .executeTakeFirstOrThrow();
  const id = randomUUID();
  const domain = {
    id,
    environmentId,
    ...ids,
    name: `d-${id}.example`,
    isWildcard: true,
    setupType: "quick" as const,
  };
  const isInserted = await database
    .transaction()
    .execute((transaction) => insertDomain(transaction, { ...domain, ...values }));
  if (!isInserted) throw new Error("The name is taken");
  await setActive(database, [values.id ?? id], isActive);
  return values.id ?? id;
}

/** Adds a message that the environment has just sent, and returns its id. */
export async function addMail(
  database: Database,
  environmentId: string,
  { hasServer = false, ...more }: Partial<NewMail> & { readonly hasServer?: boolean } = {},
): Promise<string> {
  const id = randomUUID();
  const message = Buffer.from("To: ada@example.com\r\nFrom: shop@example.com\r\nSubject: Hello\r\n\r\nText\r\n");
  const facts = { sender: null, from: "shop@example.com", subject: "Hello", recipients: ["ada@example.com"], message };
  await insertMail(database, { id, environmentId, ...facts, ...more }, hasServer);
  return more.id ?? id;
}

/** Adds an operation on the environment that has just succeeded. */
export async function addEndedOperation(
  database: Database,
  {
    companyId,
    environmentId,
    kind = "runWpCliCommand",
  }: { readonly companyId: string; readonly environmentId: string; readonly kind?: string },
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const id = `test:${randomUUID()}`;
    const target = { companyId, siteId: null };
    const entry = { category: "siteActions", type: "runWpCliCommand", parameters: {}, actor: systemActor } as const;
    const activityId = await recordActivity(transaction, { ...target, ...entry });
    const facts = { kind, state: "running", stepsTotal: 1, input: {}, secret: null } as const;
    await insertOperation(transaction, {
      id,
      activityId,
      environmentId,
      referenceId: randomUUID(),
      ...target,
      ...facts,
    });
    await endOperation(transaction, id, { state: "succeeded", result: null });
  });
}
