import { describe, expect, it } from "vitest";
import { useTestServer } from "./testing/server.ts";

/** The address that a key is used from, by way of a proxy on this machine that adds what the header has. */
async function addressOf({ current }: ReturnType<typeof useTestServer>, forwarded: string): Promise<string> {
  const { token } = await current.addKey({ name: "Limited", allowed_addresses: ["192.0.2.1"] });
  const headers = { "x-forwarded-for": forwarded };
  const { body } = await current.call("GET", "/v2/validate", { key: token, headers });
  return body.data.address;
}

describe("by way of two proxies", () => {
  const test = useTestServer({ trustedProxies: ["10.1.2.0/24"] });

  it.each([
    ["203.0.113.9, 10.1.2.3", "203.0.113.9"],
    ["127.0.0.1, 203.0.113.9, 10.1.2.3", "203.0.113.9"],
    ["203.0.113.9, 10.1.3.3", "10.1.3.3"],
  ])("the client of %j is %s, if the operator trusts the proxy", async (forwarded, client) => {
    expect(await addressOf(test, forwarded)).toBe(client);
  });
});

describe("without trusted proxies", () => {
  const test = useTestServer();

  it("the client is what the proxy on this machine saw", async () => {
    expect(await addressOf(test, "203.0.113.9, 10.1.2.3")).toBe("10.1.2.3");
  });
});
