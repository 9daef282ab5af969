/** A process is killed at each step of an order: the next one continues with the same order and key. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Acme } from "../../certificates/acme/client.ts";
import { claimOrder, extendClaim, storeOrder } from "../../store/domains/certificateOrders.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { type ChallengeServer, startChallengeServer } from "../../testing/challengeServer.ts";
import { type Pebble, startPebble } from "../../testing/pebble.ts";
import { liveSite } from "../../testing/sites.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { openAuthority } from "./acmeAuthority.ts";
import { makeHttpSolver } from "./httpSolver.ts";
import { issueCertificate } from "./issueCertificate.ts";

const name = "shop.example.com";
let world: World;
let pebble: Pebble;
let shown: ChallengeServer;
beforeAll(async () => {
  shown = await startChallengeServer(() => world.own.database);
  pebble = await startPebble({ httpPort: shown.port });
});
afterAll(async () => {
  await pebble[Symbol.asyncDispose]();
  await shown[Symbol.asyncDispose]();
});
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Creates a new order at the authority. */
async function startOrder() {
  const { database } = world.own;
  const { environment } = await liveSite(world);
  const id = await addOwnDomain(database, environment.id, { name, isWildcard: false });
  const seen = { verified_at: new Date(), points_here_at: new Date() };
  await database.updateTable("domains").set(seen).where("id", "=", id).execute();
  const claimed = await claimOrder(database, new Date(), 60);
  if (claimed === null) throw new Error("There is nothing to order");
  const { directory, root } = pebble;
  const signal = new AbortController().signal;
  const authority = {
    database,
    sealer: world.services.sealer,
    directory,
    roots: [root],
    email: null,
    binding: null,
    signal,
  };
  const { acme, account } = await openAuthority(authority);
  const { url } = await acme.newOrder(account, [name]);
  await storeOrder(database, id, { directory, url, names: [name] });
  const { publisher, sealer } = world.services;
  const solvers = [makeHttpSolver({ database, publisher })];
  const hold = () => extendClaim(database, id, 60);
  const options = { database, sealer, acme, account, solvers, signal, now: () => new Date(), hold };
  return { order: { ...claimed, url, names: [name] }, options };
}

class Killed extends Error {}

/** Simulates that the process is killed at this call: before it, or after the authority has processed it. */
function dying(acme: Acme, call: keyof Acme, isAfter: boolean): Acme {
  const die = async <Result>(done: () => Promise<Result>): Promise<Result> => {
    if (isAfter) await done();
    throw new Killed(call);
  };
  const last: Partial<Acme> = {
    readOrder: (account, url) => die(() => acme.readOrder(account, url)),
    readAuthorization: (account, url) => die(() => acme.readAuthorization(account, url)),
    beginChallenge: (account, url) => die(() => acme.beginChallenge(account, url)),
    finalize: (account, url, request) => die(() => acme.finalize(account, url, request)),
    readChain: (account, url) => die(() => acme.readChain(account, url)),
  };
  return { ...acme, [call]: last[call] };
}

const calls = ["readOrder", "readAuthorization", "beginChallenge", "finalize", "readChain"] as const;

test.each(calls.flatMap((call) => [false, true].map((isAfter) => ({ call, isAfter }))))(
  "killed at $call, after the call: $isAfter",
  async ({ call, isAfter }) => {
    const { order, options } = await startOrder();
    const { database } = world.own;
    const killed = issueCertificate(order, { ...options, acme: dying(options.acme, call, isAfter) });
    await expect(killed).rejects.toThrow(Killed);
    const row = () => database.selectFrom("certificate_orders").selectAll().executeTakeFirstOrThrow();
    const { certificate_id: chosen } = await row();
    await issueCertificate(order, options);
    const certificates = await database.selectFrom("certificates").select(["id", "names"]).execute();
    expect(certificates).toEqual([{ id: chosen ?? expect.any(String), names: [name] }]);
    expect(await row()).toMatchObject({ url: null, key_sealed: null, failures: 0 });
    expect(await database.selectFrom("acme_challenges").selectAll().execute()).toEqual([]);
  },
);

test("killed before the end of the order was stored: the certificate is stored once", async () => {
  const { order, options } = await startOrder();
  await issueCertificate(order, options);
  const { database } = world.own;
  const [{ id = "" } = {}] = await database.selectFrom("certificates").select("id").execute();
  // As if the end of the order had not been stored: the same certificate is downloaded again, without its key.
  await storeOrder(database, order.domainId, { directory: pebble.directory, url: order.url, names: order.names });
  await expect(issueCertificate(order, options)).rejects.toThrow("does not belong");
  expect(await database.selectFrom("certificates").select("id").execute()).toEqual([{ id }]);
});
