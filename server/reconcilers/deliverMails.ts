/**
 * Sends queued messages to the mail server, one after the other, until none is due or the run has taken two seconds: stopping
 * the process waits for the run. Several may run in parallel, in any number of processes: each claims its message.
 *
 * Delivery is at least once: if a process is killed after the server accepted a message and before that is stored, the
 * message is sent again with the same Message-ID.
 */
import type { Deliver, Delivery } from "../mail/deliver.ts";
import { defaultSender, makeOutgoing } from "../mail/outgoing.ts";
import type { Database } from "../store/database.ts";
import { type ClaimedMail, claimMail, settleMail } from "../store/traffic/mailQueue.ts";

export interface DeliverMailsOptions {
  readonly database: Database;
  readonly deliver: Deliver;
  /** The envelope sender, where bounces go. Null: the sender of the message. */
  readonly from: string | null;
  readonly recipientsPerHour: number;
  /** How long a small message stays claimed. An attempt must end within this time. */
  readonly holdSeconds?: number;
}

const defaultHoldSeconds = 180;
const runMilliseconds = 2_000;
const minute = 60_000;
const giveUpAfter = 48 * 60 * minute;
const retryDelays = [1, 2, 5, 10, 20, 40, 60, 120, 240].map((minutes) => minutes * minute);

export async function deliverMails(options: DeliverMailsOptions): Promise<void> {
  const { database, recipientsPerHour, holdSeconds = defaultHoldSeconds } = options;
  const end = performance.now() + runMilliseconds;
  do {
    const mail = await claimMail(database, { seconds: holdSeconds, recipientsPerHour });
    if (mail === null) return;
    await settle(database, mail, await attempt(mail, options), new Date());
  } while (performance.now() < end);
}

async function attempt(mail: ClaimedMail, { deliver, from }: DeliverMailsOptions): Promise<Delivery> {
  const sender = from ?? mail.sender ?? defaultSender(mail.host);
  return deliver({ sender, recipients: mail.waiting, message: makeOutgoing(mail) });
}

async function settle(database: Database, mail: ClaimedMail, delivery: Delivery, now: Date): Promise<void> {
  const { id, claimedUntil } = mail;
  const { accepted, rejected, deferred } = delivery;
  await settleMail(database, {
    id,
    claimedUntil,
    hasAccepted: accepted.length > 0,
    refused: rejected,
    deferred: deferred.map(({ recipient }) => recipient),
    nextAttemptAt: nextAttempt(mail, now),
    lastError: [...rejected, ...deferred].at(-1)?.message ?? null,
  });
}

/** When to retry after a failed attempt, or null to give up. */
export function nextAttempt(
  { attempts, queuedAt }: Pick<ClaimedMail, "attempts" | "queuedAt">,
  now: Date,
): Date | null {
  if (now.getTime() - queuedAt.getTime() > giveUpAfter) return null;
  const retryDelay = retryDelays[Math.min(attempts, retryDelays.length) - 1] ?? minute;
  return new Date(now.getTime() + retryDelay);
}
