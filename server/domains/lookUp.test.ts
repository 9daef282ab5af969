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

describe("a lookup returns", () => {
  test.each([
    ["A", ["203.0.113.7", "203.0.113.8"]],
    ["AAAA", ["2001:db8::7"]],
    ["TXT", ["v=spf1 -all", "sitewright-verify=abc"]],
  ] as const)("%s", async (type, values) => {
    server.setRecords({ [`${type} shop.example.com`]: values });
    expect((await lookUp(type, "shop.example.com.")).toSorted()).toEqual(values.toSorted());
  });

  test("the CNAME as an absolute name in lower case", async () => {
    server.setRecords({ "CNAME shop.example.com": ["Demo.Sites.Example.NET"] });
    expect(await lookUp("CNAME", "shop.example.com.")).toEqual(["demo.sites.example.net."]);
  });

  test("a long TXT as one string", async () => {
    const text = "x".repeat(700);
    server.setRecords({ "TXT shop.example.com": [text] });
    expect(await lookUp("TXT", "shop.example.com.")).toEqual([text]);
  });

  test("no values if the name or the record does not exist", async () => {
    expect(await lookUp("A", "missing.example.com.")).toEqual([]);
    server.setRecords({ "A shop.example.com": ["203.0.113.7"] });
    expect(await lookUp("TXT", "shop.example.com.")).toEqual([]);
  });
});

describe("a lookup throws NoDnsAnswer if", () => {
  test("the resolver fails", async () => {
    server.setMood("SERVFAIL");
    await expect(lookUp("A", "shop.example.com.")).rejects.toBeInstanceOf(NoDnsAnswer);
  });

  test.each(["silent", "nonsense"] as const)(
    "the resolver's mood is %s",
    async (mood) => {
      server.setMood(mood);
      await expect(lookUp("A", "shop.example.com.")).rejects.toBeInstanceOf(NoDnsAnswer);
    },
    20_000,
  );
});
