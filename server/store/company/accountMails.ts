/** Mails to people about their account, and the links in them. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { AccountMails, Database, DatabaseTransaction } from "../database.ts";

interface NewAccountMail {
  readonly kind: AccountMails["kind"];
  readonly email: string;
  /** Of the link. */
  readonly origin: string;
  readonly invitationId?: string;
}

/** Queues a mail. Whether anybody has the address is found out when it is sent. */
export async function queueAccountMail(
  transaction: DatabaseTransaction,
  { kind, email, origin, invitationId }: NewAccountMail,
): Promise<void> {
  const mail = { id: randomUUID(), kind, email, origin, invitation_id: invitationId ?? null };
  await transaction.insertInto("account_mails").values(mail).execute();
}

/** A mail that this process sends now. */
export interface ClaimedAccountMail {
  readonly id: string;
  readonly kind: AccountMails["kind"];
  readonly email: string;
  readonly origin: string;
  readonly invitation_id: string | null;
  readonly created_at: Date;
  /** Including this one. */
  readonly attempts: number;
}

/**
 * Claims the next mail for `seconds`, or returns null. The claim of a killed process ends by itself. Links to choose a password go
 * first, and then companies with fewer waiting invitations.
 */
export async function claimAccountMail(database: Database, seconds: number): Promise<ClaimedAccountMail | null> {
  const { rows } = await sql<ClaimedAccountMail>`
    update account_mails set attempts = attempts + 1, next_attempt_at = now() + make_interval(secs => ${seconds})
    where id = (
      select m.id from account_mails m join (
        select w.id, count(*) over (partition by i.company_id) as of_company
        from account_mails w left join invitations i on i.id = w.invitation_id where w.next_attempt_at <= now()
      ) waiting on waiting.id = m.id
      where m.next_attempt_at <= now()
      order by m.kind = 'password-reset' desc, waiting.of_company, m.next_attempt_at limit 1 for update of m skip locked)
    returning id, kind, email, origin, invitation_id, created_at, attempts`.execute(database);
  return rows[0] ?? null;
}

export async function deleteAccountMail(database: Database, id: string): Promise<void> {
  await database.deleteFrom("account_mails").where("id", "=", id).execute();
}

export async function postponeAccountMail(database: Database, id: string, at: Date): Promise<void> {
  await database.updateTable("account_mails").set({ next_attempt_at: at }).where("id", "=", id).execute();
}

interface NewLink {
  readonly id: string;
  readonly secretHash: Buffer;
}

/** Stores a link that lets its reader choose a password. Returns the user's address, or null if nobody has it. */
export async function insertResetLink(
  database: Database,
  { id, secretHash }: NewLink,
  { email, minutes }: { readonly email: string; readonly minutes: number },
): Promise<string | null> {
  const { rows } = await sql<{ email: string }>`
    with inserted as (
      insert into mailed_links (id, secret_hash, user_id, expires_at)
      select ${id}, ${secretHash}, id, now() + make_interval(mins => ${minutes}::int)
      from users where lower(email) = lower(${email})
      returning user_id
    )
    select u.email from inserted i join users u on u.id = i.user_id`.execute(database);
  return rows[0]?.email ?? null;
}

/** Stores a link to an invitation. Returns the company's name, or null if there is no such invitation any more. */
export async function insertInvitationLink(
  database: Database,
  { id, secretHash }: NewLink,
  invitationId: string,
): Promise<string | null> {
  const { rows } = await sql<{ name: string }>`
    with inserted as (
      insert into mailed_links (id, secret_hash, invitation_id, expires_at)
      select ${id}, ${secretHash}, id, expires_at from invitations where id = ${invitationId} and expires_at > now()
      returning invitation_id
    )
    select c.name from inserted l join invitations i on i.id = l.invitation_id join companies c on c.id = i.company_id`.execute(
    database,
  );
  return rows[0]?.name ?? null;
}

/** A link that lets its reader choose a password. */
export interface ResetLink {
  readonly secret_hash: Buffer;
  readonly expires_at: Date;
  readonly user_id: string;
}

/** Finds a link that has not expired, or returns null. */
export async function findResetLink(database: Database | DatabaseTransaction, id: string): Promise<ResetLink | null> {
  const { rows } = await sql<ResetLink>`
    select secret_hash, expires_at, user_id from mailed_links
    where id = ${id} and user_id is not null and expires_at > now()`.execute(database);
  return rows[0] ?? null;
}

/** Uses up a link. Returns false if it was used up. */
export async function useResetLink(transaction: DatabaseTransaction, id: string): Promise<boolean> {
  const { numDeletedRows } = await transaction.deleteFrom("mailed_links").where("id", "=", id).executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Makes all links unusable with which the user's password can be replaced. */
export async function deleteResetLinks(transaction: DatabaseTransaction, userId: string): Promise<void> {
  await transaction.deleteFrom("mailed_links").where("user_id", "=", userId).execute();
}

/** After that, mails that could not be sent are given up. */
const queueDays = 2;

export async function deleteExpiredLinks(database: Database): Promise<void> {
  await sql`delete from mailed_links where expires_at < now()`.execute(database);
  await sql`delete from account_mails where created_at < now() - make_interval(days => ${queueDays}::int)`.execute(
    database,
  );
}
