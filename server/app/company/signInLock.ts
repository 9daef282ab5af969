/**
 * Slows down the guessing of passwords. Attempts are counted before the password is checked, so that many at once get no further than
 * one after another.
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
import { Refused } from "../failures.ts";
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
  const subject = (...parts: readonly string[]) =>
    createHmac("sha256", "sitewright sign-in").update(JSON.stringify(parts)).digest();
  return {
    both: subject("both", account, network),
    network: subject("network", network),
    account: accountSubject(account),
  };
}

const accountSubject = (account: string): Buffer =>
  createHmac("sha256", "sitewright sign-in")
    .update(JSON.stringify(["account", account]))
    .digest();

/** Counts an attempt. Throws `Refused` if it is too early; it is not counted then. */
export async function beginAttempt(transaction: DatabaseTransaction, attempt: Attempt): Promise<void> {
  const { both, network, account } = subjectsOf(attempt);
  const subjects = [both, network, account];
  const [ofBoth, ofNetwork, ofAccount] = await lockAttempts(transaction, subjects);
  const waits = [
    ofBoth === undefined ? 0 : secondsToWait(ofBoth, paces.both),
    ofNetwork === undefined ? 0 : secondsToWait(ofNetwork, paces.network),
    ofAccount === undefined ? 0 : secondsToWait(ofAccount, paces.account),
  ];
  const seconds = Math.max(...waits);
  if (seconds > 0) throw new Refused("too_many_sign_ins", tooMany(seconds), { seconds });
  await countAttempt(transaction, subjects);
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

function tooMany(seconds: number): string {
  const wait = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return `There were too many attempts with a wrong password or code. Try again in ${wait}.`;
}
