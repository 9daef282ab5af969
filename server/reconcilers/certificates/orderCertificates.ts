/**
 * Orders certificates for domains that are served under a name of their owner's and have none that is good for long enough.
 * Takes no input: what is wanted is in the database, and any number of processes may do this; each domain is held by one.
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
  /** The authority's directory. */
  readonly directory: string;
  /** PEM of the roots that its own certificate is checked with; null: the usual ones. */
  readonly roots: readonly string[] | null;
  readonly email: string | null;
  /** Null: it asks for none. */
  readonly binding: AccountBinding | null;
  /** The registrable domain of a name. */
  readonly registrableOf: (name: string) => string;
  readonly signal: AbortSignal;
  readonly now?: () => Date;
  /** For how long a domain is held between two signs of life. */
  readonly holdSeconds?: number;
}

const usualHoldSeconds = 60;
const minute = 60_000;
const hour = 60 * minute;
/** With one registered name. Authorities allow some dozens in a week. */
const ordersPerHour = 10;
/** After so many failures in a row. */
const pauses = [1, 5, 15, 60, 180, 360, 720].map((minutes) => minutes * minute);
/** After a limit, where the authority does not say for how long. */
const limitPause = hour;

/** Works until nothing is due. */
export async function orderCertificates(options: OrderCertificatesOptions): Promise<void> {
  const { database, directory, signal, now = () => new Date(), holdSeconds = usualHoldSeconds } = options;
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
  // The one before is shown until the edge has this one; where it can't be told now, that is made up for by itself.
  await publisher.publish().catch((error: unknown) => {
    if (!(error instanceof EdgeUnavailable)) throw error;
  });
}

async function attempt(claimed: ClaimedOrder, options: OrderCertificatesOptions): Promise<void> {
  const { database, sealer, solvers, signal, now = () => new Date(), holdSeconds = usualHoldSeconds } = options;
  const authority = await openAuthority(options);
  const { acme, account } = authority;
  const begun = claimed.url !== null && claimed.directory === options.directory;
  const order = begun ? { url: claimed.url, names: claimed.names } : await begin(claimed, authority, options);
  const hold = () => extendClaim(database, claimed.domainId, holdSeconds);
  const challengeName = isShownByDns(claimed) ? claimed.challengeName : null;
  await issueCertificate(
    { ...claimed, ...order, challengeName },
    { database, sealer, acme, account, solvers, signal, now, hold },
  );
}

/** Makes the order, unless there were too many for this name lately. */
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

/** Where the authority did not find it in DNS, the edge shows it, unless the name leads elsewhere. */
function isShownByDns({ challengeName, pointsHere, name, leftOut }: ClaimedOrder): boolean {
  return challengeName !== null && !(pointsHere && leftOut.includes(wildcardOf(name)));
}

function wildcardOf(name: string): string {
  return `*.${name}`;
}

/**
 * The names below it come along where DNS can show them; otherwise what somebody registers is asked for with `www.` before
 * it, where that is served.
 */
function namesFor(claimed: ClaimedOrder, registrable: string): string[] {
  const { name, isWildcard, leftOut } = claimed;
  if (isShownByDns(claimed)) return isWildcard ? [name, wildcardOf(name)] : [name];
  const www = `www.${name}`;
  return isWildcard && name === registrable && !leftOut.includes(www) ? [name, www] : [name];
}

/** Releases the order for other processes. */
async function release({ domainId }: ClaimedOrder, { database }: OrderCertificatesOptions): Promise<void> {
  await extendClaim(database, domainId, 0);
}

async function noteFailure(error: unknown, claimed: ClaimedOrder, options: OrderCertificatesOptions): Promise<void> {
  const { database, directory, now = () => new Date() } = options;
  const moment = now();
  if (isUnknownAccount(error)) await setAccountUrl(database, directory, null);
  if (error instanceof AcmeProblem && error.isLimit) {
    // Most limits are a name's. Whether this is everybody's shows at the next name, a minute later.
    await setAccountWait(database, directory, new Date(moment.getTime() + minute), error.message);
  }
  const setback = judge(error, claimed, moment);
  if (setback === null) throw error;
  await recordFailedAttempt(database, claimed.domainId, moment, setback);
}

/** Null if it is no failure that is known. */
function judge(error: unknown, claimed: ClaimedOrder, now: Date) {
  const { url, failures, leftOut, name, pointsHere } = claimed;
  const after = (milliseconds: number) => new Date(now.getTime() + milliseconds);
  const pause = pauses[Math.min(failures, pauses.length - 1)] ?? minute;
  const usual = { nextTryAt: after(pause), isOver: false, isFailure: true, limitedUntil: null, leftOut };
  if (error instanceof OrderTakesLong)
    return { ...usual, error: error.message, nextTryAt: after(minute), isFailure: false };
  if (error instanceof TooManyOrders)
    return { ...usual, error: error.message, nextTryAt: error.until, isFailure: false };
  if (error instanceof EdgeUnavailable)
    return { ...usual, error: "The edge did not answer.", nextTryAt: after(5_000), isFailure: false };
  if (pointsHere && isShownByDns(claimed) && (error instanceof DnsUnavailable || error instanceof OrderRefused)) {
    const without = [...leftOut, wildcardOf(name)];
    return { ...usual, error: null, nextTryAt: now, isOver: true, isFailure: false, leftOut: without };
  }
  if (error instanceof DnsUnavailable)
    return { ...usual, error: "The DNS server did not answer.", nextTryAt: after(5_000), isFailure: false };
  if (error instanceof AcmeUnreachable) return { ...usual, error: error.message };
  if (error instanceof OrderRefused) {
    const extra = error.names.filter((refused) => refused !== name);
    const isOnlyExtra = extra.length > 0 && extra.length === error.names.length;
    // Order for the name alone, at once: the other name can't be used.
    if (isOnlyExtra)
      return { ...usual, error: null, nextTryAt: now, isOver: true, isFailure: false, leftOut: [...leftOut, ...extra] };
    return { ...usual, error: readableDetail(error.message), isOver: true };
  }
  if (!(error instanceof AcmeProblem)) return null;
  const said = `The certificate authority refused it. ${error.message}`;
  if (error.isLimit) {
    const nextTryAt = after(error.retryAfter ?? limitPause);
    const message = `The certificate authority has a limit. ${error.message}`;
    return { ...usual, error: message, nextTryAt, isFailure: false, limitedUntil: nextTryAt };
  }
  // The authority may have been reset or have dropped the order: one new order is made at once.
  const isLost = isUnknownAccount(error) || (url !== null && isUnknownResource(error));
  if (isLost && failures === 0) return { ...usual, error: null, nextTryAt: now, isOver: true };
  return { ...usual, error: said, isOver: true };
}
