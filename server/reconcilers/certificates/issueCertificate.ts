/**
 * One order with an authority, from wherever it stands to the certificate in the database. What it is and what it needs is
 * kept before the next step is taken: whoever takes it up later goes on with the same order and the same key.
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

/** The authority looked, and was not content. */
export class OrderRefused extends Error {
  override readonly name = "OrderRefused";
  /** Names that it did not believe. */
  readonly names: readonly string[];
  constructor(message: string, names: readonly string[]) {
    super(message);
    this.names = names;
  }
}

/** The authority takes its time; the order stays as it is. */
export class OrderTakesLong extends Error {
  override readonly name = "OrderTakesLong";
}

export interface IssueOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly acme: Acme;
  readonly account: string;
  readonly solvers: readonly Solver[];
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** Makes the hold on the order last. */
  readonly hold: () => Promise<void>;
}

/** An order that is under way. */
export type OpenOrder = Pick<
  ClaimedOrder,
  "domainId" | "name" | "challengeName" | "companyId" | "environmentId" | "names"
> & {
  readonly url: string;
};

/** Of a wait between two questions. The authority may ask for more, up to the longest. */
const shortestPause = 100;
const longestPause = 5_000;
const patienceMilliseconds = 60_000;
/** After a certificate, even where that is over soon: no authority is asked for one after the other. */
const restMilliseconds = 6 * 3_600_000;

/** Resolves when the certificate is kept. */
export async function issueCertificate(order: OpenOrder, options: IssueOptions): Promise<void> {
  const { acme, account } = options;
  const read = () => acme.readOrder(account, order.url);
  let now = (await read()).value;
  if (now.status === "pending") {
    for (const url of now.authorizations) await authorize(order, url, options);
    now = await until(read, ({ status }) => status !== "pending", options);
  }
  if (now.status === "ready") {
    await finalize(order, now, options);
    now = await until(read, ({ status }) => status !== "ready" && status !== "processing", options);
  } else if (now.status === "processing") {
    now = await until(read, ({ status }) => status !== "processing", options);
  }
  if (now.status !== "valid" || now.certificate === undefined) throw await refusal(now, options);
  await keep(order, await acme.readChain(account, now.certificate), options);
}

async function authorize(order: OpenOrder, url: string, options: IssueOptions): Promise<void> {
  const { acme, account, solvers } = options;
  const read = () => acme.readAuthorization(account, url);
  const { value: asked } = await read();
  if (asked.status !== "pending") return;
  const host = asked.identifier.value.toLowerCase();
  // What is in front of the name, `www.`, may lead elsewhere.
  const shown = { host, challengeName: host === order.name ? order.challengeName : null };
  const { solver, challenge, token } = choose(
    asked,
    solvers.filter((one) => one.canSolve(shown)),
  );
  await options.hold();
  await solver.publish({ domainId: order.domainId, ...shown, token, content: acme.contentFor(token) });
  if (challenge.status === "pending") await begin(challenge, read, options);
  await until(read, ({ status }) => status !== "pending", options);
}

/** The former holder of the order may have started it, so the authority may be processing it already, or have finished. */
async function begin(
  { url }: Challenge,
  read: () => Promise<Read<Authorization>>,
  { acme, account }: IssueOptions,
): Promise<void> {
  try {
    await acme.beginChallenge(account, url);
  } catch (error) {
    if (!(error instanceof AcmeProblem)) throw error;
    const { status, challenges } = (await read()).value;
    const isBegun = status !== "pending" || challenges.some((one) => one.url === url && one.status !== "pending");
    if (!isBegun) throw error;
  }
}

function choose({ identifier, challenges }: Authorization, solvers: readonly Solver[]) {
  for (const solver of solvers) {
    const challenge = challenges.find(({ type }) => type === solver.type);
    if (challenge?.token !== undefined) return { solver, challenge, token: challenge.token };
  }
  const offered = challenges.map(({ type }) => type).join(", ") || "none";
  throw new OrderRefused(
    `The certificate authority offers no way to show that ${identifier.value} is served here, but ${offered}.`,
    [identifier.value],
  );
}

/** The key is kept before the authority hears of it. */
async function finalize(order: OpenOrder, { finalize: url }: Order, options: IssueOptions): Promise<void> {
  const key = createPrivateKey((await keyOf(order, options)).key);
  await options.hold();
  await options.acme.finalize(options.account, url, makeRequest(order.names, key));
}

async function keyOf({ domainId }: OpenOrder, { database, sealer }: IssueOptions) {
  const id = randomUUID();
  const kept = await storeKey(database, domainId, id, sealer.seal(makeKey(), `certificate:${id}`));
  if (!kept) throw new OrderTakesLong("The domain was removed while its certificate was ordered.");
  const { certificateId, keySealed } = kept;
  return { certificateId, keySealed, key: sealer.open(keySealed, `certificate:${certificateId}`) };
}

async function keep(order: OpenOrder, chain: string, options: IssueOptions): Promise<void> {
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
    await endOrder(transaction, domainId, new Date(options.now().getTime() + restMilliseconds));
  });
}

/** Asks again and again until it is so. */
async function until<Value>(
  read: () => Promise<Read<Value>>,
  isSo: (value: Value) => boolean,
  { hold, signal }: Pick<IssueOptions, "hold" | "signal">,
): Promise<Value> {
  const end = performance.now() + patienceMilliseconds;
  for (let pause = shortestPause; performance.now() < end; pause = Math.min(pause * 2, longestPause)) {
    const { value, wait } = await read();
    if (isSo(value)) return value;
    await hold();
    await sleep(Math.min(wait ?? pause, longestPause), undefined, { signal });
  }
  throw new OrderTakesLong(
    "The certificate authority takes longer than a minute. The same order is asked about again.",
  );
}

async function refusal(
  { authorizations, error, status }: Order,
  { acme, account }: IssueOptions,
): Promise<OrderRefused> {
  const all = await Promise.all(authorizations.map(async (url) => (await acme.readAuthorization(account, url)).value));
  const refused = all.filter((one) => one.status !== "valid" && one.status !== "pending");
  const names = refused.map(({ identifier }) => identifier.value.toLowerCase());
  const reasons = refused.map(({ identifier, challenges }) => `${identifier.value}: ${reasonOf(challenges)}`);
  const said = reasons.length > 0 ? reasons.join("; ") : (error?.detail ?? `the order is ${status}`);
  return new OrderRefused(`The certificate authority refused it. ${said}`, names);
}

function reasonOf(challenges: readonly Challenge[]): string {
  return challenges.find(({ error }) => error)?.error?.detail ?? "it gave no reason";
}
