/**
 * Completes an ACME order, from its current state to the stored certificate. For a domain, each step is stored before the
 * next one, so that another process can continue with the same order and key.
 */
import { createPrivateKey, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Acme, Read } from "../../certificates/acme/client.ts";
import { makeRequest } from "../../certificates/acme/csr.ts";
import { AcmeProblem } from "../../certificates/acme/problems.ts";
import type { Authorization, Challenge, Order } from "../../certificates/acme/responses.ts";
import { makeKey } from "../../certificates/acme/signing.ts";
import type { Solver } from "../../certificates/acme/solver.ts";
import { readIssued } from "../../certificates/issued.ts";
import type { Sealer } from "../../sealing.ts";
import type { Database } from "../../store/database.ts";
import { type ClaimedOrder, endOrder, storeKey } from "../../store/domains/certificateOrders.ts";
import { addCertificate } from "../../store/domains/certificates.ts";
import { edgeGenerations } from "../../store/generations.ts";

/** The authority's validation failed. */
export class OrderRefused extends Error {
  override readonly name = "OrderRefused";
  /** Names whose validation failed. */
  readonly names: readonly string[];
  constructor(message: string, names: readonly string[]) {
    super(message);
    this.names = names;
  }
}

/** The authority has not finished yet. The order is continued later. */
export class OrderTakesLong extends Error {
  override readonly name = "OrderTakesLong";
}

interface CompleteOptions {
  readonly acme: Acme;
  readonly account: string;
  readonly solvers: readonly Solver[];
  readonly signal: AbortSignal;
  /** Extends the claim on the order. */
  readonly hold: () => Promise<void>;
}

interface IssueOptions extends CompleteOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly now: () => Date;
}

/** An order that exists at the authority. */
interface AcmeOrder extends Pick<ClaimedOrder, "domainId" | "name" | "challengeName" | "names"> {
  readonly url: string;
}

type OpenOrder = AcmeOrder & Pick<ClaimedOrder, "companyId" | "environmentId">;

/** Keeps the key and the certificate of an order. */
interface OrderKeeper {
  /** Returns the key, PEM, and creates it at the first call. */
  readonly findKey: () => Promise<string>;
  readonly store: (chain: string) => Promise<void>;
}

/** Milliseconds between polls. The authority may ask for longer pauses, up to the maximum. */
const minPause = 100;
const maxPause = 5_000;
const timeoutMilliseconds = 60_000;
/** Minimum time between two certificates of a domain, even if the first one expires soon. */
const minMillisecondsBetweenOrders = 6 * 3_600_000;

/** Resolves when the domain's certificate is in the database. */
export function issueCertificate(order: OpenOrder, options: IssueOptions): Promise<void> {
  return completeOrder(
    order,
    {
      findKey: async () => (await keyOf(order, options)).key,
      store: (chain) => store(order, chain, options),
    },
    options,
  );
}

/** Resolves when the keeper has stored the certificate. */
export async function completeOrder(order: AcmeOrder, keeper: OrderKeeper, options: CompleteOptions): Promise<void> {
  const { acme, account } = options;
  const read = () => acme.readOrder(account, order.url);
  let current = (await read()).value;
  if (current.status === "pending") {
    for (const url of current.authorizations) await authorize(order, url, options);
    current = await until(read, ({ status }) => status !== "pending", options);
  }
  if (current.status === "ready") {
    await finalize(order, current, await keeper.findKey(), options);
    current = await until(read, ({ status }) => status !== "ready" && status !== "processing", options);
  } else if (current.status === "processing") {
    current = await until(read, ({ status }) => status !== "processing", options);
  }
  if (current.status !== "valid" || current.certificate === undefined) throw await refusal(current, options);
  await keeper.store(await acme.readChain(account, current.certificate));
}

async function authorize(order: AcmeOrder, url: string, options: CompleteOptions): Promise<void> {
  const { acme, account, solvers } = options;
  const read = () => acme.readAuthorization(account, url);
  const { value: authorization } = await read();
  if (authorization.status !== "pending") return;
  const host = authorization.identifier.value.toLowerCase();
  // The challenge record of the `www.` name may be delegated elsewhere.
  const shown = { host, challengeName: host === order.name ? order.challengeName : null };
  const { solver, challenge, token } = choose(
    authorization,
    solvers.filter((one) => one.canSolve(shown)),
  );
  await options.hold();
  await solver.publish({ domainId: order.domainId, ...shown, token, content: acme.contentFor(token) });
  if (challenge.status === "pending") await begin(challenge, read, options);
  await until(read, ({ status }) => status !== "pending", options);
}

/** Starts the validation. A previous process may have started it already, so the authority may be validating or done. */
async function begin(
  { url }: Challenge,
  read: () => Promise<Read<Authorization>>,
  { acme, account }: CompleteOptions,
): Promise<void> {
  try {
    await acme.beginChallenge(account, url);
  } catch (error) {
    if (!(error instanceof AcmeProblem)) throw error;
    const { status, challenges } = (await read()).value;
    const isStarted = status !== "pending" || challenges.some((one) => one.url === url && one.status !== "pending");
    if (!isStarted) throw error;
  }
}

function choose({ identifier, challenges }: Authorization, solvers: readonly Solver[]) {
  for (const solver of solvers) {
    const challenge = challenges.find(({ type }) => type === solver.type);
    if (challenge?.token !== undefined) return { solver, challenge, token: challenge.token };
  }
  const offered = challenges.map(({ type }) => type).join(", ") || "none";
  throw new OrderRefused(
    `The certificate authority offers no usable challenge for ${identifier.value}, only: ${offered}.`,
    [identifier.value],
  );
}

/** The key is stored before the authority sees the request. */
async function finalize(
  { names }: AcmeOrder,
  { finalize: url }: Order,
  key: string,
  { acme, account, hold }: CompleteOptions,
): Promise<void> {
  await hold();
  await acme.finalize(account, url, makeRequest(names, createPrivateKey(key)));
}

async function keyOf({ domainId }: OpenOrder, { database, sealer }: IssueOptions) {
  const id = randomUUID();
  const stored = await storeKey(database, domainId, id, sealer.seal(makeKey(), `certificate:${id}`));
  if (!stored) throw new OrderTakesLong("The domain was removed while its certificate was ordered.");
  const { certificateId, keySealed } = stored;
  return { certificateId, keySealed, key: sealer.open(keySealed, `certificate:${certificateId}`) };
}

async function store(order: OpenOrder, chain: string, options: IssueOptions): Promise<void> {
  const { certificateId, keySealed, key } = await keyOf(order, options);
  const certificate = readIssued(chain, key, order.names);
  const { companyId, environmentId, domainId } = order;
  await options.database.transaction().execute(async (transaction) => {
    await edgeGenerations.announce(transaction);
    await addCertificate(transaction, {
      id: certificateId,
      companyId,
      environmentId,
      source: "acme",
      certificate,
      keySealed,
    });
    await endOrder(transaction, domainId, new Date(options.now().getTime() + minMillisecondsBetweenOrders));
  });
}

/** Polls until the condition is met. Throws `OrderTakesLong` after a minute. */
async function until<Value>(
  read: () => Promise<Read<Value>>,
  isMet: (value: Value) => boolean,
  { hold, signal }: Pick<CompleteOptions, "hold" | "signal">,
): Promise<Value> {
  const deadline = performance.now() + timeoutMilliseconds;
  for (let pause = minPause; performance.now() < deadline; pause = Math.min(pause * 2, maxPause)) {
    const { value, wait } = await read();
    if (isMet(value)) return value;
    await hold();
    await sleep(Math.min(wait ?? pause, maxPause), undefined, { signal });
  }
  throw new OrderTakesLong(
    "The certificate authority has not answered for a minute. The order is checked again later.",
  );
}

async function refusal(
  { authorizations, error, status }: Order,
  { acme, account }: CompleteOptions,
): Promise<OrderRefused> {
  const all = await Promise.all(authorizations.map(async (url) => (await acme.readAuthorization(account, url)).value));
  const refused = all.filter((one) => one.status !== "valid" && one.status !== "pending");
  const names = refused.map(({ identifier }) => identifier.value.toLowerCase());
  const reasons = refused.map(({ identifier, challenges }) => `${identifier.value}: ${reasonOf(challenges)}`);
  const detail = reasons.length > 0 ? reasons.join("; ") : (error?.detail ?? `the order is ${status}`);
  return new OrderRefused(`The certificate authority refused it. ${detail}`, names);
}

function reasonOf(challenges: readonly Challenge[]): string {
  return challenges.find(({ error }) => error)?.error?.detail ?? "it gave no reason";
}
