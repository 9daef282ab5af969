/** Creates companies, each with an owner who can sign in and an unrestricted API key. */
import { randomBytes, randomUUID } from "node:crypto";
import { insertApiKey } from "@sitewright/server/store/company/apiKeys.ts";
import { hasCompany, insertCompany, lockFirstCompany } from "@sitewright/server/store/company/companies.ts";
import { insertUser } from "@sitewright/server/store/company/users.ts";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { hashPassword } from "./passwords.ts";
import { isPossibleToken, makeToken, readToken } from "./token.ts";

/** Returned once, when the company is created; only hashes of the key and the password are stored. */
export interface NewCompany {
  readonly company_id: string;
  readonly api_key: string;
  readonly admin_email: string;
  readonly admin_password: string;
}

interface CompanyOptions {
  readonly name: string;
  /** Default: a generated key. */
  readonly apiKey?: string | null;
  /** Default: a unique address that receives no mail. */
  readonly adminEmail?: string;
  /** Whether the owner is an operator of the installation. Default: no. */
  readonly isOperator?: boolean;
}

/** A setting or argument is invalid; the message says which and why. */
export class UnusableCompany extends Error {
  override readonly name = "UnusableCompany";
}

/**
 * Creates a company with an owner and a key, and records it in the same transaction. Throws `UnusableCompany` if the name or
 * the e-mail address can't be used.
 */
export async function createCompany(
  database: Database,
  options: CompanyOptions,
  record: (transaction: DatabaseTransaction, facts: NewCompany) => Promise<void> = async () => undefined,
): Promise<NewCompany> {
  const prepared = await prepareCompany(options);
  await database.transaction().execute(async (transaction) => {
    await insertAll(transaction, prepared);
    await record(transaction, prepared.facts);
  });
  return prepared.facts;
}

/**
 * Creates the first company at the first startup; later returns null. `firstApiKey` becomes its key and must be 16 to 200
 * visible ASCII characters; otherwise throws `UnusableCompany`. `keep` is awaited before the company is committed, so that a
 * crash leaves no company without a known key.
 */
export async function ensureFirstCompany(
  database: Database,
  firstApiKey: string | null,
  keep: (facts: NewCompany) => Promise<void> = async () => undefined,
): Promise<NewCompany | null> {
  if (firstApiKey !== null && !isPossibleToken(firstApiKey)) {
    throw new UnusableCompany(
      "SITEWRIGHT_FIRST_API_KEY must be 16 to 200 visible ASCII characters without spaces, or unset.",
    );
  }
  if (await hasCompany(database)) return null;
  const prepared = await prepareCompany({
    name: "First company",
    apiKey: firstApiKey,
    adminEmail: "owner@sitewright.localhost",
    isOperator: true,
  });
  return database.transaction().execute(async (transaction) => {
    await lockFirstCompany(transaction);
    if (await hasCompany(transaction)) return null;
    await insertAll(transaction, prepared);
    await keep(prepared.facts);
    return prepared.facts;
  });
}

interface PreparedCompany {
  readonly name: string;
  readonly isOperator: boolean;
  readonly facts: NewCompany;
  readonly passwordHash: string;
}

/** Validates and generates everything before the transaction, since hashing the password is slow. */
async function prepareCompany(options: CompanyOptions): Promise<PreparedCompany> {
  const name = options.name.trim();
  if (name.length === 0 || name.length > 200 || hasControlCharacters(name)) {
    throw new UnusableCompany("The company's name must be 1 to 200 characters on one line.");
  }
  const password = randomBytes(18).toString("base64url");
  const facts = {
    company_id: randomUUID(),
    api_key: options.apiKey ?? makeToken(),
    admin_email: options.adminEmail ?? `owner-${randomBytes(4).toString("hex")}@sitewright.localhost`,
    admin_password: password,
  };
  return { name, isOperator: options.isOperator ?? false, facts, passwordHash: await hashPassword(password) };
}

function hasControlCharacters(text: string): boolean {
  return /\p{Cc}/u.test(text) || !text.isWellFormed();
}

async function insertAll(transaction: DatabaseTransaction, prepared: PreparedCompany): Promise<void> {
  const { name, isOperator, facts, passwordHash } = prepared;
  const userId = randomUUID();
  const token = readToken(facts.api_key);
  await insertCompany(transaction, { id: facts.company_id, name });
  const isNewUser = await insertUser(transaction, {
    id: userId,
    companyId: facts.company_id,
    email: facts.admin_email,
    fullName: "Owner",
    firstName: "Owner",
    role: "owner",
    passwordHash,
    isOperator,
    mustChangePassword: true,
  });
  if (!isNewUser) throw new UnusableCompany(`There is already a user with the e-mail address ${facts.admin_email}.`);
  await insertApiKey(transaction, {
    id: token.id,
    companyId: facts.company_id,
    userId,
    name: "First key",
    secretHash: token.secretHash,
    scopes: null,
    expiresAt: null,
  });
}
