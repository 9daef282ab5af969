/**
 * Slows down the guessing of passwords, requests for links to replace them, and invitations by mail. Attempts are counted before the
 * password is checked, so that many at once get no further than one after another.
 *
 * They are counted by account and network, by network, and by account. The first two have long waits. The waits of an account from any
 * network are short, because strangers could otherwise keep its owner out for long.
 */
import { createHmac } from "node:crypto";
import {
  type Attempts,
  countAttempt,
  forgetAttempts,
  lockAttempts,
} from "@sitewright/server/store/company/signInFailures.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { Refused, TooManyMails } from "../failures.ts";
import { clientNetwork } from "../traffic/networks.ts";

interface Pace {
  /** Failures without a wait. */
  readonly free: number;
  readonly maxSeconds: number;
}

const firstSeconds = 30;
const paces = {
  both: { free: 5, maxSeconds: 3_600 },
  network: { free: 30, maxSeconds: 3_600 },
  account: { free: 60, maxSeconds: 60 },
  resetsOfAddress: { free: 3, maxSeconds: 3_600 },
  resetsOfNetwork: { free: 20, maxSeconds: 3_600 },
  invitationsOfCompany: { free: 200, maxSeconds: 3_600 },
  invitationsOfCompanyToAddress: { free: 3, maxSeconds: 3_600 },
  invitationsToAddress: { free: 10, maxSeconds: 3_600 },
} as const satisfies Record<string, Pace>;

/** Seconds until the next attempt; 0: now. Doubles with each failure. */
export function secondsToWait({ failures, seconds }: Attempts, { free, maxSeconds }: Pace): number {
  if (failures < free) return 0;
  const wait = Math.min(maxSeconds, firstSeconds * 2 ** (failures - free));
  return Math.max(0, Math.ceil(wait - seconds));
}

interface Subjects {
  readonly both: Buffer;
  readonly network: Buffer;
  readonly account: Buffer;
}

interface Attempt {
  /** An id of a user, or an e-mail address that nobody has. */
  readonly account: string;
  readonly ipAddress: string;
}

/** Hashes of equal length, because an e-mail address in a request can be anything. */
function subjectsOf({ account, ipAddress }: Attempt): Subjects {
  const network = clientNetwork(ipAddress);
  return {
    both: subjectOf("both", account, network),
    network: subjectOf("network", network),
    account: subjectOf("account", account),
  };
}

const subjectOf = (...parts: readonly string[]): Buffer =>
  createHmac("sha256", "sitewright sign-in").update(JSON.stringify(parts)).digest();

interface Counted {
  readonly subject: Buffer;
  readonly pace: Pace;
}

/** Counts an attempt of each subject. Returns the seconds until the next one is possible; it is not counted if that is not now. */
async function count(transaction: DatabaseTransaction, counted: readonly Counted[]): Promise<number> {
  const subjects = counted.map(({ subject }) => subject);
  const attempts = await lockAttempts(transaction, subjects);
  const waits = counted.map(({ pace }, at) => {
    const earlier = attempts[at];
    return earlier === undefined ? 0 : secondsToWait(earlier, pace);
  });
  const seconds = Math.max(...waits);
  if (seconds === 0) await countAttempt(transaction, subjects);
  return seconds;
}

/** Counts an attempt. Throws `Refused` if it is too early; it is not counted then. */
export async function beginAttempt(transaction: DatabaseTransaction, attempt: Attempt): Promise<void> {
  const { both, network, account } = subjectsOf(attempt);
  const seconds = await count(transaction, [
    { subject: both, pace: paces.both },
    { subject: network, pace: paces.network },
    { subject: account, pace: paces.account },
  ]);
  if (seconds > 0) {
    const message = `There were too many attempts with a wrong password or code. Try again in ${waitText(seconds)}.`;
    throw new Refused("too_many_sign_ins", message, { seconds });
  }
}

/** Counts a request for a link, whether anybody has the address or not. Throws `Refused` if it is too early. */
export async function countResetRequest(
  transaction: DatabaseTransaction,
  { email, ipAddress }: { readonly email: string; readonly ipAddress: string },
): Promise<void> {
  const seconds = await count(transaction, [
    { subject: subjectOf("resets of address", email.toLowerCase()), pace: paces.resetsOfAddress },
    { subject: subjectOf("resets of network", clientNetwork(ipAddress)), pace: paces.resetsOfNetwork },
  ]);
  if (seconds > 0) {
    const message = `Too many links were asked for. Look for the earlier mails, or try again in ${waitText(seconds)}.`;
    throw new Refused("too_many_password_resets", message, { seconds });
  }
}

/** Counts an invitation that is to be mailed. Throws `TooManyMails` if it is too early. */
export async function countMailedInvitation(
  transaction: DatabaseTransaction,
  { companyId, email }: { readonly companyId: string; readonly email: string },
): Promise<void> {
  const address = email.toLowerCase();
  const seconds = await count(transaction, [
    { subject: subjectOf("invitations of company", companyId), pace: paces.invitationsOfCompany },
    {
      subject: subjectOf("invitations of company to address", companyId, address),
      pace: paces.invitationsOfCompanyToAddress,
    },
    { subject: subjectOf("invitations to address", address), pace: paces.invitationsToAddress },
  ]);
  if (seconds > 0) {
    const message = `Too many invitations were mailed to this address, or by this company. Try again in ${waitText(seconds)}.`;
    throw new TooManyMails(message, seconds);
  }
}

/** Forgets the failures of a network at an account. */
export async function forgetAccountFailures(transaction: DatabaseTransaction, attempt: Attempt): Promise<void> {
  await forgetAttempts(transaction, { forgotten: [subjectsOf(attempt).both], counted: [] });
}

/** After an attempt with the right password. */
export async function endAttempt(transaction: DatabaseTransaction, attempt: Attempt): Promise<void> {
  const { both, network, account } = subjectsOf(attempt);
  await forgetAttempts(transaction, { forgotten: [both], counted: [network, account] });
}

/** After the first step of a sign-in in two steps: takes back this attempt, and no earlier ones. */
export async function withdrawAttempt(transaction: DatabaseTransaction, attempt: Attempt): Promise<void> {
  await forgetAttempts(transaction, { forgotten: [], counted: Object.values(subjectsOf(attempt)) });
}

const waitText = (seconds: number): string =>
  seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
