/** An authority that fails, hangs, sends invalid answers or limits requests: what is stored, and when it is retried. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Authority, type CannedResponse, startAuthority } from "../../certificates/testing/authority.ts";
import { makeSealer } from "../../sealing.ts";
import { addCompany, addOwnDomain, addSite } from "../../store/testing/rows.ts";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { orderCertificates } from "./orderCertificates.ts";

const minute = 60_000;
const hour = 60 * minute;
const sealer = makeSealer(Buffer.alloc(32, "key of the tests"));
let own: TestDatabase;
let authority: Authority;
let environmentId: string;
beforeEach(async () => {
  own = await createTestDatabase();
  authority = await startAuthority();
  authority.respond("/account", { status: 201, headers: { location: `${authority.origin}/account/1` }, body: {} });
  const { companyId } = await addCompany(own.database);
  environmentId = (await addSite(own.database, companyId)).environmentId;
});
afterEach(async () => {
  await authority[Symbol.asyncDispose]();
  await own.drop();
});

async function addReady(name: string): Promise<string> {
  const id = await addOwnDomain(own.database, environmentId, { name });
  const seen = { verified_at: new Date(), points_here_at: new Date() };
  await own.database.updateTable("domains").set(seen).where("id", "=", id).execute();
  return id;
}

const optionsAt = (now: number, signal = new AbortController().signal) => ({
  database: own.database,
  sealer,
  publisher: { publish: async () => undefined },
  solvers: [],
  directory: `${authority.origin}/dir`,
  roots: [authority.root],
  email: null,
  binding: null,
  registrableOf: (name: string) => name,
  signal,
  now: () => new Date(now),
});
const work = (now: number) => orderCertificates(optionsAt(now));
const order = () => own.database.selectFrom("certificate_orders").selectAll().executeTakeFirstOrThrow();
const asked = (path: string) => authority.requests.filter((each) => each.path === path).length;
const problem = (type: string, detail: string) => ({ type: `urn:ietf:params:acme:error:${type}`, detail });

describe("the authority's answer to an order", () => {
  test.each<[string, CannedResponse, RegExp]>([
    ["500", { status: 500, body: problem("serverInternal", "Out of order") }, /refused it\. Out of order$/],
    ["HTML", { status: 200, body: "<html>Welcome</html>", headers: { location: "/x" } }, /is not ACME/],
    ["HTML with 502", { status: 502, body: "<html>Bad gateway</html>" }, /refused it\. status 502$/],
    ["no location", { status: 201, body: {} }, /sent no Location/],
    [
      "a refusal",
      { status: 403, body: problem("rejectedIdentifier", 'Policy forbids "a.example"') },
      /^The certificate authority refused it\. Policy forbids "a\.example"$/,
    ],
  ])("%s is stored, and the next attempt waits longer each time", async (_, told, words) => {
    authority.respond("/order", told);
    await addReady("a.example");
    let now = Date.now();
    for (const [failures, minutes] of [1, 5, 15, 60, 180, 360, 720, 720].entries()) {
      await work(now);
      const row = await order();
      expect(row.last_error).toMatch(words);
      expect([row.failures, row.next_try_at.getTime() - now]).toEqual([failures + 1, minutes * minute]);
      expect(row.limited_until).toBeNull();
      await work(now + minutes * minute - 1);
      expect(asked("/order")).toBe(failures + 1);
      now += minutes * minute;
    }
  });

  test("changes nothing if it has not come when the process stops", async () => {
    authority.respond("/order", { body: null });
    await addReady("a.example");
    const stopping = new AbortController();
    const working = orderCertificates(optionsAt(Date.now(), stopping.signal));
    await expect.poll(() => asked("/order")).toBe(1);
    stopping.abort();
    await working;
    expect(await order()).toMatchObject({ failures: 0, last_error: null });
  });
});

describe("a rate limit", () => {
  const limited = (headers: Readonly<Record<string, string>>) => ({
    status: 429,
    headers,
    body: problem("rateLimited", "too many certificates (5) already issued"),
  });

  test("is respected as long as the authority says, and is not a failure", async () => {
    authority.respond("/order", limited({ "retry-after": "7200" }));
    await addReady("a.example");
    const now = Date.now();
    await work(now);
    const until = new Date(now + 2 * hour);
    expect(await order()).toMatchObject({
      failures: 0,
      last_error: "The certificate authority has a limit. too many certificates (5) already issued",
      next_try_at: until,
      limited_until: until,
    });
    await work(now + 2 * hour - 1);
    expect(asked("/order")).toBe(1);
    await work(now + 2 * hour);
    expect(asked("/order")).toBe(2);
  });

  test("lasts an hour if the authority names no duration", async () => {
    authority.respond("/order", limited({}));
    await addReady("a.example");
    const now = Date.now();
    await work(now);
    expect((await order()).limited_until).toEqual(new Date(now + hour));
  });

  test("pauses all orders for a minute", async () => {
    authority.respond("/order", limited({ "retry-after": "7200" }));
    await addReady("a.example");
    await addReady("b.example");
    const now = Date.now();
    await work(now);
    expect(asked("/order")).toBe(1);
    await work(now + minute - 1);
    expect(asked("/order")).toBe(1);
    await work(now + minute + 1);
    expect(asked("/order")).toBe(2);
  });
});

describe("an account", () => {
  test("that the authority no longer knows is created again, and so is the order", async () => {
    authority.respond("/order", { status: 400, body: problem("accountDoesNotExist", "Who are you?") });
    await addReady("a.example");
    await work(Date.now());
    expect([asked("/account"), asked("/order")]).toEqual([2, 2]);
    expect(await order()).toMatchObject({ failures: 2, last_error: expect.stringMatching(/Who are you\?$/) });
  });

  test("is shared by all processes, even if they create it at the same time", async () => {
    authority.respond("/order", { status: 500, body: "" });
    for (const name of ["a.example", "b.example", "c.example"]) await addReady(name);
    await Promise.all([work(Date.now()), work(Date.now()), work(Date.now())]);
    const keys = authority.requests
      .filter(({ path }) => path === "/account")
      .map(({ head }) => JSON.stringify(head?.jwk));
    expect(new Set(keys).size).toBe(1);
    const accounts = await own.database.selectFrom("acme_accounts").selectAll().execute();
    expect(accounts).toHaveLength(1);
    expect(accounts[0]?.key_sealed.includes("PRIVATE")).toBe(false);
  });
});
