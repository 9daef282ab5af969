/** Sessions of people: keys that are accepted only in a cookie. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, Role } from "../database.ts";
import { sitesOfUser } from "../sites/labels.ts";
import { deleteResetLinks } from "./accountMails.ts";
import { unlinkProviderAccounts } from "./providerAccounts.ts";

/** Days after which an unused session is refused. */
export const idleDays = 3;

export interface NewSession {
  readonly id: string;
  readonly secretHash: Buffer;
  readonly companyId: string;
  readonly userId: string;
  readonly expiresAt: Date;
  readonly ipAddress: string | null;
  readonly browserName: string | null;
  readonly osName: string | null;
}

/** A session as its user sees it. */
export interface ShownSession {
  readonly id: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date;
  readonly ip_address: string | null;
  readonly browser_name: string | null;
  readonly os_name: string | null;
}

const shownColumns = sql`id, created_at, last_used_at, expires_at, ip_address, browser_name, os_name`;
const isOpen = sql`kind = 'session' and revoked_at is null and expires_at > now()
  and coalesce(last_used_at, created_at) > now() - make_interval(days => ${idleDays}::int)`;

/** Inserts a session, and ends the user's oldest ones beyond `maxOpen`. */
export async function insertSession(
  transaction: DatabaseTransaction,
  session: NewSession,
  maxOpen: number,
): Promise<ShownSession> {
  await transaction
    .insertInto("api_keys")
    .values({
      id: session.id,
      kind: "session",
      company_id: session.companyId,
      user_id: session.userId,
      name: "Session",
      secret_hash: session.secretHash,
      scopes: null,
      allowed_addresses: null,
      expires_at: session.expiresAt,
      ip_address: session.ipAddress,
      browser_name: session.browserName,
      os_name: session.osName,
    })
    .execute();
  // Revoking makes all processes read the company's keys again, so it is done only if there is one to revoke.
  const { rows: oldest } = await sql<{ id: string }>`
    select id from api_keys where user_id = ${session.userId} and ${isOpen}
    order by created_at desc, id offset ${maxOpen}::int`.execute(transaction);
  if (oldest.length > 0) {
    const ids = oldest.map(({ id }) => id);
    await transaction.updateTable("api_keys").set({ revoked_at: sql<Date>`now()` }).where("id", "in", ids).execute();
  }
  const { rows } = await sql<ShownSession>`select ${shownColumns} from api_keys where id = ${session.id}`.execute(
    transaction,
  );
  const [inserted] = rows;
  if (inserted === undefined) throw new Error("The session was not inserted");
  return inserted;
}

/** Lists the user's sessions that have not ended, newest first. */
export async function listSessions(
  database: Database | DatabaseTransaction,
  userId: string,
): Promise<readonly ShownSession[]> {
  const { rows } = await sql<ShownSession>`
    select ${shownColumns} from api_keys where user_id = ${userId} and ${isOpen}
    order by created_at desc, id`.execute(database);
  return rows;
}

/** Ends sessions of the user: the one with that id, all but that one, or all. Returns those that had not ended. */
export async function endSessions(
  transaction: DatabaseTransaction,
  userId: string,
  which: { readonly only: string } | { readonly except: string } | "all",
): Promise<readonly ShownSession[]> {
  const chosen = which === "all" ? sql`true` : "only" in which ? sql`id = ${which.only}` : sql`id <> ${which.except}`;
  const { rows } = await sql<ShownSession>`
    with ended as (
      update api_keys set revoked_at = now() where user_id = ${userId} and ${chosen} and ${isOpen}
      returning ${shownColumns}
    )
    select * from ended order by created_at desc, id`.execute(transaction);
  return rows;
}

/** Ends the session with this token, if there is one. */
export async function endSessionOf(
  transaction: DatabaseTransaction,
  { id, secretHash }: { readonly id: string; readonly secretHash: Buffer },
): Promise<void> {
  await transaction
    .updateTable("api_keys")
    .set({ revoked_at: sql<Date>`now()` })
    .where("id", "=", id)
    .where("kind", "=", "session")
    .where("secret_hash", "=", secretHash)
    .where("revoked_at", "is", null)
    .execute();
}

/** A user who can sign in, with their company. */
export interface SignInUser {
  readonly id: string;
  readonly email: string;
  readonly full_name: string;
  readonly first_name: string;
  readonly role: Role;
  /** The only sites that the user has, also because of their labels. Null: all. */
  readonly site_ids: readonly string[] | null;
  readonly password_hash: string;
  readonly must_change_password: boolean;
  /** Of the installation. */
  readonly is_operator: boolean;
  /** Null: the user has no second factor. */
  readonly second_factor_since: Date | null;
  /** Whether the company requires one. */
  readonly requires_second_factor: boolean;
  readonly company_id: string;
  readonly company_name: string;
}

/** Finds a user by e-mail address, ignoring case, or by id; or returns null. */
export async function findSignInUser(
  database: Database | DatabaseTransaction,
  by: { readonly email: string } | { readonly id: string },
): Promise<SignInUser | null> {
  const condition = "email" in by ? sql`lower(u.email) = lower(${by.email})` : sql`u.id = ${by.id}`;
  const { rows } = await sql<SignInUser>`
    select u.id, u.email, u.full_name, u.first_name, u.role, ${sql.raw(sitesOfUser)} as site_ids, u.password_hash, u.must_change_password,
      u.second_factor_since, u.is_operator, c.requires_second_factor, c.id as company_id, c.name as company_name
    from users u join companies c on c.id = u.company_id where ${condition}`.execute(database);
  return rows[0] ?? null;
}

/** Whether the user still has this password. The user is locked until the transaction ends. */
export async function holdPassword(transaction: DatabaseTransaction, userId: string, hash: string): Promise<boolean> {
  const found = await transaction
    .selectFrom("users")
    .select("id")
    .where("id", "=", userId)
    .where("password_hash", "=", hash)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return found !== undefined;
}

/** Stores a password that the user has chosen, unless it was changed since `oldHash` was read. Returns whether it was stored. Links to replace it end. */
export async function replacePassword(
  transaction: DatabaseTransaction,
  userId: string,
  oldHash: string,
  newHash: string,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("users")
    .set({ password_hash: newHash, must_change_password: false })
    .where("id", "=", userId)
    .where("password_hash", "=", oldHash)
    .executeTakeFirst();
  if (numUpdatedRows === 1n) await deleteResetLinks(transaction, userId);
  return numUpdatedRows === 1n;
}

/**
 * Stores a password without asking for the old one. Links to replace it end, and accounts at a provider are unlinked: whoever knew the
 * old one may have linked theirs. `mustChange`: somebody else has chosen it.
 */
export async function resetPassword(
  transaction: DatabaseTransaction,
  userId: string,
  hash: string,
  { mustChange }: { readonly mustChange: boolean },
): Promise<void> {
  await transaction
    .updateTable("users")
    .set({ password_hash: hash, must_change_password: mustChange })
    .where("id", "=", userId)
    .execute();
  await deleteResetLinks(transaction, userId);
  await unlinkProviderAccounts(transaction, userId);
}
