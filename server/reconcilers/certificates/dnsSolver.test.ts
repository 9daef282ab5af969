/** dns-01 with `pebble`, which queries the installation's own DNS server. */
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

interface CheckResult {
  readonly challengeName: string | null;
  readonly pointsHere: boolean;
  readonly isWildcard?: boolean;
}

/** Adds a domain that is served, with the results of its DNS check. */
async function addDomain({ challengeName, pointsHere, isWildcard = true }: CheckResult): Promise<string> {
  const { database } = world.own;
  const id = await addOwnDomain(database, site.environment.id, { name, isWildcard });
  const columns = { challenge_name: challengeName, points_here_at: pointsHere ? new Date() : null };
  await database.updateTable("domains").set(columns).where("id", "=", id).execute();
  return id;
}

async function order(authority: Pebble = pebble, timeoutMilliseconds?: number): Promise<void> {
  const { database } = world.own;
  const { sealer, publisher, zones } = world.services;
  const challenges = makeDnsChallenges({
    database,
    zones,
    dns: askDns(),
    ...(timeoutMilliseconds !== undefined && { timeoutMilliseconds }),
  });
  await orderCertificates({
    database,
    sealer,
    publisher,
    solvers: [makeDnsSolver(challenges), makeHttpSolver({ database, publisher })],
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

describe("with its zone in the installation's DNS", () => {
  test("a domain gets a wildcard certificate before it points here", async () => {
    await addZone(await addDomain({ challengeName: `_acme-challenge.${name}`, pointsHere: false }));
    await order();
    expect(await issued(), (await orderRow()).last_error ?? "").toEqual([[`*.${name}`, name]]);
  });

  test("a domain without its subdomains gets a certificate for its own name only", async () => {
    const known = { challengeName: `_acme-challenge.${name}`, pointsHere: false, isWildcard: false };
    await addZone(await addDomain(known));
    await order();
    expect(await issued()).toEqual([[name]]);
  });
});

test("a CNAME at another DNS provider that points to ours does the same", async () => {
  const target = "abc.acme-challenge.localhost";
  const id = await addDomain({ challengeName: target, pointsHere: false });
  // Our DNS acts as the other provider, with a zone that has only this record.
  const records = [{ name: `_acme-challenge.${name}`, type: "CNAME", ttl: 300, values: [`${target}.`] }];
  await world.own.database
    .transaction()
    .execute((transaction) => putIntoZone(transaction, { id, companyId: site.companyId }, "example.com", records));
  await world.services.zones.publish();
  await order();
  expect(await issued(), (await orderRow()).last_error ?? "").toEqual([[`*.${name}`, name]]);
});

test("falls back to http-01 without the wildcard if the authority does not find the DNS challenge", async () => {
  await using shown = await startChallengeServer(() => world.own.database);
  // This authority's DNS server resolves every name to this machine and does not know our zones.
  await using elsewhere = await startPebble({ httpPort: shown.port });
  await addZone(await addDomain({ challengeName: `_acme-challenge.${name}`, pointsHere: true }));
  await order(elsewhere);
  expect(await issued()).toEqual([[name]]);
  expect(await orderRow()).toMatchObject({ failures: 0, last_error: null });
});

test("stores the authority's message and retries later if neither challenge works", async () => {
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

test("falls back to http-01 if our DNS does not answer", async () => {
  await using shown = await startChallengeServer(() => world.own.database);
  await using elsewhere = await startPebble({ httpPort: shown.port });
  await addDomain({ challengeName: "nobody.example.net", pointsHere: true });
  await order(elsewhere, 200);
  expect(await issued()).toEqual([[name]]);
});
