import { afterEach, describe, expect, it, vi } from "vitest";
import { makeRateLimits } from "./rateLimits.ts";
import { siteFields, useTestServer } from "./testing/server.ts";

describe("a company's rate limit", () => {
  const test = useTestServer({ limits: { rateLimitPerMinute: 5 } });

  it("is that of two keys, however many keys it has", async () => {
    const { addKey, call } = test.current;
    const tokens: string[] = [];
    for (let number = 0; number < 3; number += 1) tokens.push((await addKey({})).token);
    const accepted = [];
    for (const key of tokens) {
      for (let number = 0; number < 4; number += 1) {
        const { status, headers } = await call("GET", "/v2/validate", { key });
        if (status === 200) accepted.push(headers["x-ratelimit-remaining"]);
      }
    }
    expect(accepted).toEqual(["4", "3", "2", "1", "4", "3", "2", "1", "1", "0"]);
    const { status, headers } = await call("GET", "/v2/validate", { key: tokens[2] ?? "" });
    expect(status).toBe(429);
    expect(headers["x-ratelimit-limit"]).toBe("10");
    const other = await call("GET", "/v2/validate", { key: test.current.otherCompany.api_key });
    expect(other.status).toBe(200);
  });
});

describe("a key's rate limit", () => {
  const test = useTestServer({ limits: { rateLimitPerMinute: 5, creationLimitPerMinute: 2 } });

  it("is in the headers of every response; beyond it, requests get a 429 with Retry-After", async () => {
    const { call } = test.current;
    const answers = [];
    for (let number = 0; number < 6; number += 1) answers.push(await call("GET", "/v2/validate"));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers["x-ratelimit-remaining"])).toEqual(["4", "3", "2", "1", "0", "0"]);
    const last = answers.at(-1);
    expect(last?.body).toEqual({ message: "Too many requests, please try again later.", status: 429, data: null });
    expect(last?.headers["x-ratelimit-limit"]).toBe("5");
    expect(Number(last?.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect(Number(last?.headers["retry-after"])).toBeLessThanOrEqual(30);
    const reset = Number(last?.headers["x-ratelimit-reset"]) - Date.now() / 1000;
    expect(reset).toBeGreaterThan(0);
    expect(reset).toBeLessThanOrEqual(61);
  });

  it("does not affect other companies", async () => {
    const { call, otherCompany } = test.current;
    const { headers } = await call("GET", "/v2/validate", { key: otherCompany.api_key });
    expect(headers["x-ratelimit-remaining"]).toBe("4");
  });

  it("does not count creations or requests that follow operations, which have their own limits", async () => {
    const { call, company } = test.current;
    const create = () => call("POST", "/v2/sites", { body: siteFields(company.company_id) });
    const created = [await create(), await create(), await create()];
    expect(created.map(({ status }) => status)).toEqual([202, 202, 429]);
    expect(created[0]?.headers["x-ratelimit-limit"]).toBe("2");
    expect((await call("GET", `/v2/operations/${created[0]?.body.operation_id}`)).status).toBe(202);
  });

  it("is counted by IP address without a valid key", async () => {
    const { call } = test.current;
    const answers = [];
    for (let number = 0; number < 6; number += 1) answers.push(await call("GET", "/v2/validate", { key: "wrong" }));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it("is counted by IPv6 network without a valid key", async () => {
    const from = (address: string) =>
      test.current.call("GET", "/v2/validate", { key: null, headers: { "x-forwarded-for": address } });
    for (let host = 1; host <= 5; host += 1) await from(`2001:db8::${host}`);
    expect((await from("2001:db8::ffff:6")).status).toBe(429);
    expect((await from("2001:db8:0:1::1")).status).toBe(401);
  });
});

describe("a network that has used up its limit with invalid keys", () => {
  const test = useTestServer({ limits: { rateLimitPerMinute: 5 } });

  it("is refused other keys without a question to the database, but no key that was used before", async () => {
    const { call, addKey, pool } = test.current;
    const headers = { "x-forwarded-for": "198.51.100.7" };
    const from = async (key: string) => (await call("GET", "/v2/validate", { key, headers })).status;
    const [used, unused] = [(await addKey({})).token, (await addKey({})).token];
    expect(await from(used)).toBe(200);
    for (let number = 0; number < 5; number += 1) expect(await from(`wrong-${number}`)).toBe(401);
    test.current.identities.forgetKeys();
    const asked = vi.spyOn(pool, "query");
    expect([await from("wrong-again"), await from(unused)]).toEqual([429, 429]);
    expect(asked).not.toHaveBeenCalled();
    asked.mockRestore();
    expect(await from(used)).toBe(200);
    const elsewhere = { "x-forwarded-for": "198.51.100.8" };
    expect((await call("GET", "/v2/validate", { key: unused, headers: elsewhere })).status).toBe(200);
  });
});

describe("rate limits of several control processes", () => {
  const limits = { rateLimitPerMinute: 10, creationLimitPerMinute: 2 };

  it("are shared among the processes that there are at the moment", () => {
    let processes = 1;
    const count = makeRateLimits(limits, { processes: () => processes });
    const remaining = () => Number(count(undefined, "192.0.2.1").headers["x-ratelimit-remaining"]);
    expect([remaining(), remaining()]).toEqual([9, 8]);
    processes = 2;
    expect([remaining(), remaining(), remaining()]).toEqual([2, 1, 0]);
    expect(count(undefined, "192.0.2.1")).toMatchObject({ isExceeded: true, headers: { "x-ratelimit-limit": "5" } });
    processes = 1;
    expect(remaining()).toBe(3);
  });

  it("leave each process at least one request, and a company twice as many as a key", () => {
    const count = makeRateLimits(limits, { processes: () => 30 });
    const limitOf = (keyId: string) => count(undefined, { keyId, companyId: "ours" });
    expect(limitOf("one").isExceeded).toBe(false);
    expect(limitOf("one").isExceeded).toBe(true);
    expect(limitOf("two")).toMatchObject({ isExceeded: true, headers: { "x-ratelimit-limit": "1" } });
    const two = makeRateLimits(limits, { processes: () => 2 });
    const answers = ["a", "b", "c"].flatMap((keyId) =>
      Array.from({ length: 5 }, () => two(undefined, { keyId, companyId: "ours" }).isExceeded),
    );
    expect(answers.filter((isExceeded) => !isExceeded)).toHaveLength(10);
  });
});

describe("a clock that jumps", () => {
  afterEach(() => void vi.useRealTimers());

  it.each([86_400_000, -86_400_000])("changes no rate limit: by %d ms", (jump) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const count = makeRateLimits({ rateLimitPerMinute: 1, creationLimitPerMinute: 1 });
    const ask = (address: string) => count(undefined, address);
    ask("192.0.2.1");
    vi.setSystemTime(Date.now() + jump);
    const { isExceeded, headers } = ask("192.0.2.1");
    expect(isExceeded).toBe(true);
    const seconds = Number(headers["x-ratelimit-reset"]) - Date.now() / 1000;
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(61);
    expect(ask("192.0.2.2").isExceeded).toBe(false);
  });
});
