/** dns-01 with `pebble`, which asks the installation's own DNS server. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDnsClient } from "../../clients/dnsClient.ts";
import { putIntoZone } from "../../store/domains/zones.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { startChallengeServer } from "../../testing/challengeServer.ts";
import { type Pebble, startPebble } from "../../testing/pebble.ts";
import { liveSite } from "../../testing/sites.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { makeDnsChallenges } from "./dnsChallenges.ts";
import { makeDnsSolver } from "./dnsSolver.ts";
import { makeHttpSolver } from "./httpSolver.ts";
import { orderCertificates } from "./orderCertificates.ts";

const name = "shop.example.com";

let world: World;
let site: Awaited<ReturnType<typeof liveSite>>;
let pebble: Pebble;
beforeEach(async () => {
  world = await makeWorld();
  site = await liveSite(world);
  const { port } = await askDns().status();
  pebble = await startPebble({ httpPort: 1, dnsServer: `127.0.0.1:${port}` });
});
afterEach(async () => {
  await pebble[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const askDns = () => makeDnsClient(world.facts.dnsSocket, "127.0.0.1");

interface Known {
  readonly challengeName: string | null;
  readonly pointsHere: boolean;
  readonly isWildcard?: boolean;
}

/** A domain that is served, and what was found out about it. */
async function addDomain({ challengeName, pointsHere, isWildcard = true }: Known): Promise<string> {
  const { database } = world.own;
  const id = await addOwnDomain(database, site.environment.id, { name, isWildcard });
  const columns = { challenge_name: challengeName, points_here_at: pointsHere ? new Date() : null };
  await database.updateTable("domains").set(columns).where("id", "=", id).execute();
  return id;
}

async function order(authority: Pebble = pebble): Promise<void> {
  const { database } = world.own;
  const { sealer, publisher, zones } = world.services;
  const dns = askDns();
  await orderCertificates({
    database,
    sealer,
    publisher,
    solvers: [makeDnsSolver(makeDnsChallenges({ database, zones, dns })), makeHttpSolver({ database, publisher })],
    directory: authority.directory,
    roots: [authority.root],
    email: null,
    binding: null,
    registrableOf: () => "example.com",
    signal: new AbortController().signal,
  });
}

async function issued(): Promise<string[][]> {
  const rows = await world.own.database.selectFrom("certificates").select("names").orderBy("created_at").execute();
  return rows.map(({ names }) => names.toSorted());
}

const orderRow = () => world.own.database.selectFrom("certificate_orders").selectAll().executeTakeFirstOrThrow();

async function addZone(id: string): Promise<void> {
  await world.own.database
    .transaction()
    .execute((transaction) => putIntoZone(transaction, { id, companyId: site.companyId }, "example.com", []));
  await world.services.zones.publish();
}

describe("where the installation's DNS has the zone", () => {
  test("a domain gets a certificate for the names below it too, before it points here", async () => {
    await addZone(await addDomain({ challengeName: `_acme-challenge.${name}`, pointsHere: false }));
    await order();
    expect(await issued(), (await orderRow()).last_error ?? "").toEqual([[`*.${name}`, name]]);
  });

  test("one without the names below it gets one for itself alone", async () => {
    const known = { challengeName: `_acme-challenge.${name}`, pointsHere: false, isWildcard: false };
    await addZone(await addDomain(known));
    await order();
    expect(await issued()).toEqual([[name]]);
  });
});

test("a record at somebody else's DNS that leads to ours does the same", async () => {
  const target = "abc.acme-challenge.localhost";
  const id = await addDomain({ challengeName: target, pointsHere: false });
  // Their DNS is played by ours, with a zone that has nothing but the record.
  const records = [{ name: `_acme-challenge.${name}`, type: "CNAME", ttl: 300, values: [`${target}.`] }];
  await world.own.database
    .transaction()
    .execute((transaction) => putIntoZone(transaction, { id, companyId: site.companyId }, "example.com", records));
  await world.services.zones.publish();
  await order();
  expect(await issued(), (await orderRow()).last_error ?? "").toEqual([[`*.${name}`, name]]);
});

test("where the authority does not find it in DNS, the edge shows it, for the name alone", async () => {
  await using shown = await startChallengeServer(() => world.own.database);
  // It asks a DNS server that leads every name here, and knows nothing of ours.
  await using elsewhere = await startPebble({ httpPort: shown.port });
  await addZone(await addDomain({ challengeName: `_acme-challenge.${name}`, pointsHere: true }));
  await order(elsewhere);
  expect(await issued()).toEqual([[name]]);
  expect(await orderRow()).toMatchObject({ failures: 0, last_error: null });
});

test("where neither shows it, it says what the authority said, and tries again later", async () => {
  await using shown = await startChallengeServer(() => world.own.database);
  await using elsewhere = await startPebble({ httpPort: shown.port });
  await addZone(await addDomain({ challengeName: `_acme-challenge.${name}`, pointsHere: false }));
  await order(elsewhere);
  expect(await issued()).toEqual([]);
  const { failures, last_error, next_try_at } = await orderRow();
  expect(failures).toBe(1);
  expect(last_error).toContain(name);
  expect(next_try_at.getTime()).toBeGreaterThan(Date.now());
});

test("where our DNS does not answer, the edge shows it", async () => {
  await using shown = await startChallengeServer(() => world.own.database);
  await using elsewhere = await startPebble({ httpPort: shown.port });
  await addDomain({ challengeName: "nobody.example.net", pointsHere: true });
  await order(elsewhere);
  expect(await issued()).toEqual([[name]]);
});
