/**
 * Writes and sends the mails to people about their account. Each attempt makes a link with a secret of its own, which is stored only as a
 * hash, so the database never contains a link that somebody could use. Nothing is sent to addresses that nobody has.
 */
import { invitationWords, resetWords, writeAccountMail } from "../mail/accountMails.ts";
import type { Deliver } from "../mail/deliver.ts";
import {
  type ClaimedAccountMail,
  claimAccountMail,
  deleteAccountMail,
  insertInvitationLink,
  insertResetLink,
  postponeAccountMail,
} from "../store/company/accountMails.ts";
import type { Database } from "../store/database.ts";

export type LinkKind = "invitation" | "reset";

interface NewSecret {
  /** Goes into the mail. */
  readonly token: string;
  readonly id: string;
  readonly secretHash: Buffer;
}

export interface DeliverAccountMailsOptions {
  readonly database: Database;
  readonly deliver: Deliver;
  /** The address that they are sent from. */
  readonly from: string;
  readonly makeSecret: (kind: LinkKind) => NewSecret;
  /** How long a link to choose a password is valid. */
  readonly resetMinutes: number;
  /** How long a mail stays claimed. An attempt must end within this time. */
  readonly holdSeconds?: number;
}

const defaultHoldSeconds = 180;
const runMilliseconds = 2_000;
const minute = 60_000;
/** Nobody waits longer for a link to choose a password; an invitation stays valid for a week. */
const giveUpAfter = { "password-reset": 60 * minute, invitation: 48 * 60 * minute };
const maxDelay = 60 * minute;

/** Sends mails until none is due or the run has taken two seconds. */
export async function deliverAccountMails(options: DeliverAccountMailsOptions): Promise<void> {
  const { database, holdSeconds = defaultHoldSeconds } = options;
  const end = performance.now() + runMilliseconds;
  do {
    const mail = await claimAccountMail(database, holdSeconds);
    if (mail === null) return;
    const next = await attempt(mail, options);
    if (next === null) await deleteAccountMail(database, mail.id);
    else await postponeAccountMail(database, mail.id, next);
  } while (performance.now() < end);
}

/** Returns when to try again, or null: it was sent, refused or given up, or there is nobody to send it to. */
async function attempt(mail: ClaimedAccountMail, { deliver, from, ...options }: DeliverAccountMailsOptions) {
  const words = await wordsOf(mail, options);
  if (words === null) return null;
  const message = await writeAccountMail({ from, ...words });
  const { deferred } = await deliver({ sender: from, recipients: [words.to], message });
  return deferred.length === 0 ? null : nextAttempt(mail, new Date());
}

type WordsOptions = Pick<DeliverAccountMailsOptions, "database" | "makeSecret" | "resetMinutes">;

/** Null: nobody has the address, or the invitation has been withdrawn, accepted or replaced. */
async function wordsOf(
  { kind, email, origin, invitation_id: invitationId }: ClaimedAccountMail,
  { database, makeSecret, resetMinutes: minutes }: WordsOptions,
) {
  if (kind === "invitation") {
    const { token, ...link } = makeSecret("invitation");
    const company = invitationId === null ? null : await insertInvitationLink(database, link, invitationId);
    return company === null
      ? null
      : { to: email, ...invitationWords({ company, url: `${origin}/invitation#${token}` }) };
  }
  const { token, ...link } = makeSecret("reset");
  // Not to the address in the request, which may have another case.
  const to = await insertResetLink(database, link, { email, minutes });
  if (to === null) return null;
  return { to, ...resetWords({ email: to, url: `${origin}/password-reset#${token}`, minutes }) };
}

/** When to try again after a failed attempt, or null to give up. */
function nextAttempt({ kind, created_at, attempts }: ClaimedAccountMail, now: Date): Date | null {
  if (now.getTime() - created_at.getTime() > giveUpAfter[kind]) return null;
  return new Date(now.getTime() + Math.min(maxDelay, minute * 2 ** (attempts - 1)));
}
