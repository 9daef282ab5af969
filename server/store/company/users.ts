/** Users of a company. */
import type { Database, DatabaseTransaction, Role } from "../database.ts";

interface NewUser {
  readonly id: string;
  readonly companyId: string;
  readonly email: string;
  readonly fullName: string;
  readonly firstName: string;
  readonly role: Role;
  readonly passwordHash: string;
}

/** Inserts a user. Returns false if another user has the e-mail address, ignoring case. */
export async function insertUser(transaction: DatabaseTransaction, user: NewUser): Promise<boolean> {
  const inserted = await transaction
    .insertInto("users")
    .values({
      id: user.id,
      company_id: user.companyId,
      email: user.email,
      full_name: user.fullName,
      first_name: user.firstName,
      role: user.role,
      password_hash: user.passwordHash,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted !== undefined;
}

/** Whether the company has that user. */
export async function isUserOf(
  database: Database | DatabaseTransaction,
  companyId: string,
  userId: string,
): Promise<boolean> {
  const row = await database
    .selectFrom("users")
    .where("company_id", "=", companyId)
    .where("id", "=", userId)
    .select("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** A user as others see it. */
export interface ShownUser {
  readonly id: string;
  readonly email: string;
  readonly full_name: string;
}

/** Lists the users of a company, oldest first. */
export function listUsers(database: Database, companyId: string): Promise<ShownUser[]> {
  return database
    .selectFrom("users")
    .select(["id", "email", "full_name"])
    .where("company_id", "=", companyId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}
