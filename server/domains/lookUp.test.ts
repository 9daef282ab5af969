import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type LookUp, makeLookUp, NoDnsAnswer } from "./lookUp.ts";
import { type DnsServer, startDnsServer } from "./testing/dnsServer.ts";

let server: DnsServer;
let lookUp: LookUp;
beforeAll(async () => {
  server = await startDnsServer();
  lookUp = makeLookUp(server.address);
});
beforeEach(() => {
  server.setMood("right");
  server.setRecords({});
});
afterAll(() => server[Symbol.asyncDispose]());

describe("a name is looked up", () => {
  test.each([
    ["A", ["203.0.113.7", "203.0.113.8"]],
    ["AAAA", ["2001:db8::7"]],
    ["TXT", ["v=spf1 -all", "sitewright-verify=abc"]],
  ] as const)("%s", async (type, values) => {
    server.setRecords({ [`${type} shop.example.com`]: values });
    expect((await lookUp(type, "shop.example.com.")).toSorted()).toEqual(values.toSorted());
  });

  test("CNAME, whose value is absolute and in lower case", async () => {
    server.setRecords({ "CNAME shop.example.com": ["Demo.Sites.Example.NET"] });
    expect(await lookUp("CNAME", "shop.example.com.")).toEqual(["demo.sites.example.net."]);
  });

  test("a long TXT is put together", async () => {
    const text = "x".repeat(700);
    server.setRecords({ "TXT shop.example.com": [text] });
    expect(await lookUp("TXT", "shop.example.com.")).toEqual([text]);
  });

  test("there is no such name, or no such record: there are no values", async () => {
    expect(await lookUp("A", "nobody.example.com.")).toEqual([]);
    server.setRecords({ "A shop.example.com": ["203.0.113.7"] });
    expect(await lookUp("TXT", "shop.example.com.")).toEqual([]);
  });
});

describe("no answer is told from no record", () => {
  test("the resolver has failed", async () => {
    server.setMood("SERVFAIL");
    await expect(lookUp("A", "shop.example.com.")).rejects.toBeInstanceOf(NoDnsAnswer);
  });

  test.each(["silent", "nonsense"] as const)(
    "the resolver is %s",
    async (mood) => {
      server.setMood(mood);
      await expect(lookUp("A", "shop.example.com.")).rejects.toBeInstanceOf(NoDnsAnswer);
    },
    20_000,
  );
});
