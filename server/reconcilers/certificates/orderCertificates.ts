/**
 * Orders certificates for customers' domains that are served and have none, or one that expires soon. Any number of processes
 * may run this: each claims a domain.
 */
import { isUnknownAccount, isUnknownResource } from "../../certificates/acme/client.ts";
import { AcmeProblem, AcmeUnreachable, readableDetail } from "../../certificates/acme/problems.ts";
import type { AccountBinding } from "../../certificates/acme/signing.ts";
import type { Solver } from "../../certificates/acme/solver.ts";
import { DnsUnavailable } from "../../clients/dnsUnavailable.ts";
import { EdgeUnavailable } from "../../clients/edgeClient.ts";
import type { Publisher } from "../../publishing/publishRoutes.ts";
import type { Sealer } from "../../sealing.ts";
import type { Database } from "../../store/database.ts";
import { findAccountWait, setAccountUrl, setAccountWait } from "../../store/domains/acmeAccounts.ts";
import {
  type ClaimedOrder,
  claimOrder,
  countOrder,
  extendClaim,
  recordFailedAttempt,
  storeOrder,
} from "../../store/domains/certificateOrders.ts";
import { type Authority, openAuthority } from "./acmeAuthority.ts";
import { issueCertificate, OrderRefused, OrderTakesLong } from "./issueCertificate.ts";

export interface OrderCertificatesOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly publisher: Pick<Publisher, "publish">;
  readonly solvers: readonly Solver[];
  /** URL of the authority's directory. */
  readonly directory: string;
  /** PEM of the roots for the authority's own certificate, or null for the system's. */
  readonly roots: readonly string[] | null;
  readonly email: string | null;
  /** External account binding, or null if the authority requires none. */
  readonly binding: AccountBinding | null;
  /** The registrable domain of a name. */
  readonly registrableOf: (name: string) => string;
  readonly signal: AbortSignal;
  readonly now?: () => Date;
  /** How long a claim lasts unless it is extended. */
  readonly holdSeconds?: number;
}

const defaultHoldSeconds = 60;
const minute = 60_000;
const hour = 60 * minute;
/** Per registrable domain. Authorities allow a few dozen per week. */
const ordersPerHour = 10;
/** By number of consecutive failures. */
const retryDelays = [1, 5, 15, 60, 180, 360, 720].map((minutes) => minutes * minute);
/** After a rate limit for which the authority names no duration. */
const rateLimitDelay = hour;

/** Works until nothing is due. */
export async function orderCertificates(options: OrderCertificatesOptions): Promise<void> {
  const { database, directory, signal, now = () => new Date(), holdSeconds = defaultHoldSeconds } = options;
  while (!signal.aborted) {
    if ((await findAccountWait(database, directory, now())) !== null) return;
    const claimed = await claimOrder(database, now(), holdSeconds);
    if (claimed === null) return;
    await work(claimed, options);
  }
}

async function work(claimed: ClaimedOrder, options: OrderCertificatesOptions): Promise<void> {
  const { publisher, signal } = options;
  try {
    await attempt(claimed, options);
  } catch (error) {
    if (signal.aborted) return release(claimed, options);
    await noteFailure(error, claimed, options);
    return;
  }
  // If the edge is down, it serves the old certificate until the reconciler publishes the new one.
  await publisher.publish().catch((error: unknown) => {
    if (!(error instanceof EdgeUnavailable)) throw error;
  });
}

async function attempt(claimed: ClaimedOrder, options: OrderCertificatesOptions): Promise<void> {
  const { database, sealer, solvers, signal, now = () => new Date(), holdSeconds = defaultHoldSeconds } = options;
  const authority = await openAuthority(options);
  const { acme, account } = authority;
  const isOpen = claimed.url !== null && claimed.directory === options.directory;
  const order = isOpen ? { url: claimed.url, names: claimed.names } : await begin(claimed, authority, options);
  const hold = () => extendClaim(database, claimed.domainId, holdSeconds);
  const challengeName = usesDnsChallenge(claimed) ? claimed.challengeName : null;
  await issueCertificate(
    { ...claimed, ...order, challengeName },
    { database, sealer, acme, account, solvers, signal, now, hold },
  );
}

/** Creates the order. Throws `TooManyOrders` if there were too many for the registrable domain within an hour. */
async function begin(claimed: ClaimedOrder, { acme, account }: Authority, options: OrderCertificatesOptions) {
  const { database, directory, registrableOf } = options;
  const registrable = registrableOf(claimed.name);
  const names = namesFor(claimed, registrable);
  const next = await countOrder(database, registrable, ordersPerHour);
  if (next)
    throw new TooManyOrders(`${ordersPerHour} certificates were ordered for ${registrable} within an hour.`, next);
  const { url } = await acme.newOrder(account, names);
  await storeOrder(database, claimed.domainId, { directory, url, names });
  return { url, names };
}

class TooManyOrders extends Error {
  override readonly name = "TooManyOrders";
  readonly until: Date;
  constructor(message: string, until: Date) {
    super(message);
    this.until = until;
  }
}

/** dns-01 if possible. After it has failed, http-01 if the name points here. */
function usesDnsChallenge({ challengeName, pointsHere, name, leftOut }: ClaimedOrder): boolean {
  return challengeName !== null && !(pointsHere && leftOut.includes(wildcardOf(name)));
}

function wildcardOf(name: string): string {
  return `*.${name}`;
}

/**
 * With dns-01 the certificate includes the wildcard. Otherwise a registrable domain gets its `www.` name too, if that is
 * served.
 */
function namesFor(claimed: ClaimedOrder, registrable: string): string[] {
  const { name, isWildcard, isWwwElsewhere, leftOut } = claimed;
  if (usesDnsChallenge(claimed)) return isWildcard ? [name, wildcardOf(name)] : [name];
  const www = `www.${name}`;
  const includesWww = isWildcard && name === registrable && !isWwwElsewhere && !leftOut.includes(www);
  return includesWww ? [name, www] : [name];
}

/** Releases the order for other processes. */
async function release({ domainId }: ClaimedOrder, { database }: OrderCertificatesOptions): Promise<void> {
  await extendClaim(database, domainId, 0);
}

async function noteFailure(error: unknown, claimed: ClaimedOrder, options: OrderCertificatesOptions): Promise<void> {
  const { database, directory, now = () => new Date() } = options;
  const failedAt = now();
  if (isUnknownAccount(error)) await setAccountUrl(database, directory, null);
  if (error instanceof AcmeProblem && error.isLimit) {
    // Most limits are per name. If this one is for the account, the next order, a minute later, shows it.
    await setAccountWait(database, directory, new Date(failedAt.getTime() + minute), error.message);
  }
  const setback = judge(error, claimed, failedAt);
  if (setback === null) throw error;
  await recordFailedAttempt(database, claimed.domainId, failedAt, setback);
}

/** What to store for the failed order, or null if the error is unknown. */
function judge(error: unknown, claimed: ClaimedOrder, now: Date) {
  const { url, failures, leftOut, name, pointsHere } = claimed;
  const after = (milliseconds: number) => new Date(now.getTime() + milliseconds);
  const retryDelay = retryDelays[Math.min(failures, retryDelays.length - 1)] ?? minute;
  const usual = { nextTryAt: after(retryDelay), isOver: false, isFailure: true, limitedUntil: null, leftOut };
  if (error instanceof OrderTakesLong)
    return { ...usual, error: error.message, nextTryAt: after(minute), isFailure: false };
  if (error instanceof TooManyOrders)
    return { ...usual, error: error.message, nextTryAt: error.until, isFailure: false };
  if (error instanceof EdgeUnavailable)
    return { ...usual, error: "The edge did not answer.", nextTryAt: after(5_000), isFailure: false };
  if (pointsHere && usesDnsChallenge(claimed) && (error instanceof DnsUnavailable || error instanceof OrderRefused)) {
    const without = [...leftOut, wildcardOf(name)];
    return { ...usual, error: null, nextTryAt: now, isOver: true, isFailure: false, leftOut: without };
  }
  if (error instanceof DnsUnavailable)
    return { ...usual, error: "The DNS server did not answer.", nextTryAt: after(5_000), isFailure: false };
  if (error instanceof AcmeUnreachable) return { ...usual, error: error.message };
  if (error instanceof OrderRefused) {
    const extra = error.names.filter((refused) => refused !== name);
    const isOnlyExtra = extra.length > 0 && extra.length === error.names.length;
    // Only the additional name failed: order again at once without it.
    if (isOnlyExtra)
      return { ...usual, error: null, nextTryAt: now, isOver: true, isFailure: false, leftOut: [...leftOut, ...extra] };
    return { ...usual, error: readableDetail(error.message), isOver: true };
  }
  if (!(error instanceof AcmeProblem)) return null;
  const message = `The certificate authority refused it. ${error.message}`;
  if (error.isLimit) {
    const nextTryAt = after(error.retryAfter ?? rateLimitDelay);
    const limited = `The certificate authority has a limit. ${error.message}`;
    return { ...usual, error: limited, nextTryAt, isFailure: false, limitedUntil: nextTryAt };
  }
  // The authority may have been reset or have dropped the order: order again at once.
  const isLost = isUnknownAccount(error) || (url !== null && isUnknownResource(error));
  if (isLost && failures === 0) return { ...usual, error: null, nextTryAt: now, isOver: true };
  return { ...usual, error: message, isOver: true };
}
