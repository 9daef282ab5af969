/**
 * Hands what waits to the mail server, one message after the other, until none is due or a moment has passed: whoever stops
 * the process waits for a run. Several of these may run, in as many processes as there are: each message is held by one.
 *
 * A message reaches everybody at least once. A process that is killed after the server has said yes and before that is
 * written sends it again, under the same Message-ID.
 */
import type { Deliver, Delivery } from "../mail/deliver.ts";
import { defaultSender, makeOutgoing } from "../mail/outgoing.ts";
import type { Database } from "../store/database.ts";
import { type ClaimedMail, claimMail, settleMail } from "../store/traffic/mailQueue.ts";

export interface DeliverMailsOptions {
  readonly database: Database;
  readonly deliver: Deliver;
  /** Where what can't be delivered goes back to; null: to whom the message is from. */
  readonly from: string | null;
  readonly recipientsPerHour: number;
  /** For how long a small message is held; an attempt must be over by then. */
  readonly holdSeconds?: number;
}

const usualHoldSeconds = 180;
const runMilliseconds = 2_000;
const minute = 60_000;
const patience = 48 * 60 * minute;
const pauses = [1, 2, 5, 10, 20, 40, 60, 120, 240].map((minutes) => minutes * minute);

export async function deliverMails(options: DeliverMailsOptions): Promise<void> {
  const { database, recipientsPerHour, holdSeconds = usualHoldSeconds } = options;
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
  const { taken, refused, delayed } = delivery;
  await settleMail(database, {
    id,
    claimedUntil,
    hasTaken: taken.length > 0,
    refused,
    delayed: delayed.map(({ recipient }) => recipient),
    nextAttemptAt: nextAttempt(mail, now),
    lastError: [...refused, ...delayed].at(-1)?.message ?? null,
  });
}

/** When it is tried again after an attempt that failed; null if it has been tried for long enough. */
export function nextAttempt(
  { attempts, queuedAt }: Pick<ClaimedMail, "attempts" | "queuedAt">,
  now: Date,
): Date | null {
  if (now.getTime() - queuedAt.getTime() > patience) return null;
  const pause = pauses[Math.min(attempts, pauses.length) - 1] ?? minute;
  return new Date(now.getTime() + pause);
}
