/** Which process claims which certificate order. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { addCompany, addOwnDomain, addSite } from "../testing/rows.ts";
import {
  claimOrder,
  countOrder,
  endOrder,
  extendClaim,
  recordFailedAttempt,
  storeKey,
  storeOrder,
} from "./certificateOrders.ts";
import { addCertificate } from "./certificates.ts";
import { findOrderState, resetBackoff } from "./orderStates.ts";

const hour = 3_600_000;
const day = 24 * hour;
const directory = "https://ca.example/dir";
let own: TestDatabase;
let owner: { companyId: string; environmentId: string };
beforeAll(async () => {
  own = await createTestDatabase();
});
afterAll(() => own.drop());
beforeEach(async () => {
  await own.database.deleteFrom("domains").execute();
  await own.database.deleteFrom("certificates").execute();
  const { companyId } = await addCompany(own.database);
  owner = { companyId, environmentId: (await addSite(own.database, companyId)).environmentId };
});

async function addReady(name = `d-${randomUUID()}.example`): Promise<string> {
  const id = await addOwnDomain(own.database, owner.environmentId, { name });
  const seen = { verified_at: new Date(), points_here_at: new Date() };
  await own.database.updateTable("domains").set(seen).where("id", "=", id).execute();
  return id;
}

const claim = (now = new Date(), seconds = 60) => claimOrder(own.database, now, seconds);
const state = (id: string, now = new Date()) => findOrderState(own.database, id, { directory, now });

async function addOne(source: "acme" | "custom", name: string, from: Date, to: Date): Promise<void> {
  const id = randomUUID();
  const certificate = { names: [name], chain: "", notBefore: from, notAfter: to, fingerprint: id };
  await own.database
    .transaction()
    .execute((inside) => addCertificate(inside, { id, ...owner, source, certificate, keySealed: Buffer.alloc(1) }));
}

describe("claimOrder", () => {
  test("gives each order to one of many simultaneous processes", async () => {
    const ids = [await addReady(), await addReady(), await addReady()];
    const claims = await Promise.all(Array.from({ length: 12 }, () => claim()));
    const first = claims.flatMap((each) => (each === null ? [] : [each.domainId]));
    expect(new Set(first).size).toBe(first.length);
    while (first.length < ids.length) first.push((await claim())?.domainId ?? "none");
    expect(first.toSorted()).toEqual(ids.toSorted());
    expect(await claim()).toBeNull();
  });

  test("orders nothing for a domain that needs a proof", async () => {
    const id = await addOwnDomain(own.database, owner.environmentId, { proofNeeded: "all" });
    const seen = { points_here_at: new Date(), challenge_name: "_acme-challenge.d.example" };
    await own.database.updateTable("domains").set(seen).where("id", "=", id).execute();
    expect([await claim(), await state(id)]).toEqual([null, null]);
  });

  test("claims for a limited time, which can be extended", async () => {
    const id = await addReady();
    await claim(new Date(), 60);
    await extendClaim(own.database, id, -1);
    expect((await claim())?.domainId).toBe(id);
    await extendClaim(own.database, id, 60);
    expect(await claim()).toBeNull();
  });

  test("prefers unfinished orders", async () => {
    const [begun, other] = [await addReady(), await addReady()];
    for (const _ of [1, 2]) await claim();
    await storeOrder(own.database, begun, { directory, url: "https://ca.example/1", names: ["a.example"] });
    for (const id of [begun, other]) await extendClaim(own.database, id, -1);
    expect(await claim()).toMatchObject({ domainId: begun, url: "https://ca.example/1", names: ["a.example"] });
  });

  test("ignores deleted domains", async () => {
    const id = await addReady();
    await claim();
    await own.database.deleteFrom("domains").where("id", "=", id).execute();
    expect(await storeKey(own.database, id, randomUUID(), Buffer.alloc(1))).toBeNull();
    expect(await claim()).toBeNull();
  });
});

describe("storeKey", () => {
  test("keeps the first key until the next order", async () => {
    const id = await addReady();
    await claim();
    const [one, other] = [randomUUID(), randomUUID()];
    expect((await storeKey(own.database, id, one, Buffer.from("1")))?.certificateId).toBe(one);
    expect(await storeKey(own.database, id, other, Buffer.from("2"))).toEqual({
      certificateId: one,
      keySealed: Buffer.from("1"),
    });
    await storeOrder(own.database, id, { directory, url: "https://ca.example/2", names: [] });
    expect((await storeKey(own.database, id, other, Buffer.from("2")))?.certificateId).toBe(other);
  });
});

describe("a certificate is needed", () => {
  test("a day before a custom certificate expires, not earlier", async () => {
    const id = await addReady("own.example");
    const end = Date.now() + 30 * day;
    await addOne("custom", "own.example", new Date(Date.now() - day), new Date(end));
    expect(await claim()).toBeNull();
    expect((await state(id))?.nextTryAt?.getTime()).toBe(end - day);
    expect((await claim(new Date(end - day + 1_000)))?.domainId).toBe(id);
  });

  test("not for a name that a wildcard covers, but for names further below", async () => {
    await addReady("a.wild.example");
    const below = await addReady("a.b.wild.example");
    await addOne("acme", "*.wild.example", new Date(Date.now() - day), new Date(Date.now() + 90 * day));
    expect((await claim())?.domainId).toBe(below);
    expect(await claim()).toBeNull();
  });
});

describe("a failed attempt", () => {
  const usual = { error: "It says no", isOver: true, isFailure: true, limitedUntil: null, leftOut: [] };

  test("is counted, explained, and retried later", async () => {
    const id = await addReady();
    await claim();
    const [now, nextTryAt] = [new Date(), new Date(Date.now() + hour)];
    await recordFailedAttempt(own.database, id, now, { ...usual, nextTryAt });
    expect(await claim()).toBeNull();
    expect(await state(id)).toEqual({
      isUnderWay: false,
      nextTryAt,
      failures: 1,
      lastError: "It says no",
      lastErrorAt: now,
      limitedUntil: null,
    });
    expect((await claim(nextTryAt))?.failures).toBe(1);
  });

  test("because of a rate limit can't be retried earlier", async () => {
    const id = await addReady();
    await claim();
    const until = new Date(Date.now() + hour);
    await recordFailedAttempt(own.database, id, new Date(), {
      ...usual,
      isFailure: false,
      nextTryAt: until,
      limitedUntil: until,
    });
    await own.database.transaction().execute((inside) => resetBackoff(inside, id));
    expect(await state(id)).toMatchObject({ failures: 0, limitedUntil: until, nextTryAt: until });
    expect((await state(id, new Date(until.getTime() + 1)))?.limitedUntil).toBeNull();
  });

  test("is cleared once the certificate is issued", async () => {
    const id = await addReady();
    await claim();
    await recordFailedAttempt(own.database, id, new Date(), {
      ...usual,
      nextTryAt: new Date(),
      limitedUntil: new Date(),
    });
    await own.database.transaction().execute((inside) => endOrder(inside, id, new Date()));
    expect(await state(id)).toMatchObject({ failures: 0, lastError: null, lastErrorAt: null, limitedUntil: null });
  });
});

describe("orders are counted", () => {
  test("by registrable domain, and simultaneous processes don't exceed the limit", async () => {
    const name = `${randomUUID()}.example`;
    const answers = await Promise.all(Array.from({ length: 7 }, () => countOrder(own.database, name, 5)));
    expect(answers.filter((next) => next === null)).toHaveLength(5);
    expect(await countOrder(own.database, `other-${name}`, 5)).toBeNull();
    const [refused] = answers.filter((next) => next !== null);
    expect(refused?.getTime()).toBeGreaterThan(Date.now());
  });
});
