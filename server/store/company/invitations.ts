/** Invitations of people to companies. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, Role } from "../database.ts";

export interface NewInvitation {
  readonly id: string;
  readonly companyId: string;
  readonly email: string;
  readonly role: Role;
  readonly siteIds: readonly string[] | null;
  readonly labelIds: readonly string[] | null;
  readonly secretHash: Buffer;
  readonly invitedBy: string;
  readonly expiresAt: Date;
}

/** The visible part of an invitation. */
export interface ShownInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly site_ids: readonly string[] | null;
  readonly label_ids: readonly string[] | null;
  readonly invited_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const shownColumns = [
  "id",
  "email",
  "role",
  "site_ids",
  "label_ids",
  "invited_by",
  "created_at",
  "expires_at",
] as const;

/** Inserts an invitation in the place of an earlier one of the company to the same e-mail address. */
export async function insertInvitation(
  transaction: DatabaseTransaction,
  invitation: NewInvitation,
): Promise<ShownInvitation> {
  await sql`
    delete from invitations where company_id = ${invitation.companyId}
      and lower(email) = lower(${invitation.email})`.execute(transaction);
  return transaction
    .insertInto("invitations")
    .values({
      id: invitation.id,
      company_id: invitation.companyId,
      email: invitation.email,
      role: invitation.role,
      site_ids: invitation.siteIds && [...invitation.siteIds],
      label_ids: invitation.labelIds && [...invitation.labelIds],
      secret_hash: invitation.secretHash,
      invited_by: invitation.invitedBy,
      expires_at: invitation.expiresAt,
    })
    .returning(shownColumns)
    .executeTakeFirstOrThrow();
}

/** The role of an invitation of the company to that address, or null. */
export async function findInvitedRole(
  transaction: DatabaseTransaction,
  companyId: string,
  email: string,
): Promise<Role | null> {
  const { rows } = await sql<{ role: Role }>`
    select role from invitations where company_id = ${companyId} and lower(email) = lower(${email})`.execute(
    transaction,
  );
  return rows[0]?.role ?? null;
}

/** Deletes invitations that expired that many days ago. */
export async function deleteExpiredInvitations(database: Database, days: number): Promise<void> {
  await sql`delete from invitations where expires_at < now() - make_interval(days => ${days}::int)`.execute(database);
}

/** Lists the invitations of a company, newest first. */
export function listInvitations(
  database: Database | DatabaseTransaction,
  companyId: string,
): Promise<ShownInvitation[]> {
  return database
    .selectFrom("invitations")
    .select(shownColumns)
    .where("company_id", "=", companyId)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
}

/** Deletes an invitation of the company. Returns it, or null if there is none. */
export async function deleteInvitation(
  transaction: DatabaseTransaction,
  companyId: string,
  id: string,
): Promise<ShownInvitation | null> {
  const deleted = await transaction
    .deleteFrom("invitations")
    .where("company_id", "=", companyId)
    .where("id", "=", id)
    .returning(shownColumns)
    .executeTakeFirst();
  return deleted ?? null;
}

/** Deletes all invitations that a user has sent. */
export async function deleteInvitationsOf(transaction: DatabaseTransaction, userId: string): Promise<void> {
  await transaction.deleteFrom("invitations").where("invited_by", "=", userId).execute();
}

/** An invitation as the invited person sees it. */
export interface OpenInvitation extends Pick<ShownInvitation, "id" | "email" | "role" | "expires_at"> {
  readonly secret_hash: Buffer;
  readonly company_id: string;
  readonly company_name: string;
}

/** Finds an invitation that has not expired, by the id in its own link or in one that was mailed; or returns null. */
export async function findInvitation(
  database: Database | DatabaseTransaction,
  id: string,
): Promise<OpenInvitation | null> {
  const { rows } = await sql<OpenInvitation>`
    select i.id, i.email, i.role, i.expires_at, i.company_id, c.name as company_name,
      coalesce(l.secret_hash, i.secret_hash) as secret_hash
    from invitations i join companies c on c.id = i.company_id
      left join mailed_links l on l.invitation_id = i.id and l.id = ${id}
    where i.id = coalesce((select invitation_id from mailed_links where id = ${id}), ${id}) and i.expires_at > now()`.execute(
    database,
  );
  return rows[0] ?? null;
}

/** An invitation to an address, without its secret. */
export type InvitationTo = Omit<OpenInvitation, "secret_hash">;

/** Lists the invitations to an e-mail address, ignoring case, that have not expired: of all companies, newest first. */
export async function listInvitationsTo(database: Database, email: string): Promise<readonly InvitationTo[]> {
  const { rows } = await sql<InvitationTo>`
    select i.id, i.email, i.role, i.expires_at, i.company_id, c.name as company_name
    from invitations i join companies c on c.id = i.company_id
    where lower(i.email) = lower(${email}) and i.expires_at > now()
    order by i.created_at desc, i.id`.execute(database);
  return rows;
}
