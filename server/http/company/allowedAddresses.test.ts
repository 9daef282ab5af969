import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const keysPath = () => `/v2/company/${test.current.company.company_id}/api-keys`;
const key = (fields: object = {}) => test.current.addKey({ name: "Limited", ...fields });
/** A request that a proxy on this machine forwards from that address. */
const validateFrom = (address: string, token: string) =>
  test.current.call("GET", "/v2/validate", { key: token, headers: { "x-forwarded-for": address } });
const setAddresses = (id: string, allowed_addresses: unknown, token = test.current.company.api_key) =>
  test.current.call("PUT", `${keysPath()}/${id}/allowed-addresses`, { body: { allowed_addresses }, key: token });
const listOf = async (id: string) => {
  const { body } = await test.current.call("GET", keysPath());
  return body.api_keys.find((each: { id: string }) => each.id === id)?.allowed_addresses;
};

describe("a key with allowed addresses", () => {
  it.each([
    [["203.0.113.7"], "203.0.113.7", 200],
    [["203.0.113.7"], "203.0.113.8", 403],
    [["203.0.113.0/24"], "203.0.113.255", 200],
    [["203.0.113.0/24"], "203.0.114.1", 403],
    [["203.0.113.7"], "::ffff:203.0.113.7", 200],
    [["::ffff:203.0.113.0/120"], "203.0.113.9", 200],
    [["2001:DB8:0::/32"], "2001:db8:ffff::1", 200],
    [["2001:db8::/32"], "2001:db9::1", 403],
    [["0.0.0.0/0"], "198.51.100.1", 200],
    [["0.0.0.0/0"], "2001:db8::1", 403],
    [["10.0.0.1", "127.0.0.1"], "127.0.0.1", 200],
    [["203.0.113.7"], "203.0.113.7:51234", 403],
    [["0.0.0.0/0", "::/0"], "unknown", 403],
  ])("limited to %j is answered from %s with %i", async (allowed_addresses, address, status) => {
    const { token } = await key({ allowed_addresses });
    expect((await validateFrom(address, token)).status).toBe(status);
  });

  it("is refused elsewhere with the address, before anything is done", async () => {
    const { call } = test.current;
    const { token } = await key({ allowed_addresses: ["203.0.113.7"] });
    const { status, body } = await validateFrom("198.51.100.1", token);
    expect(status).toBe(403);
    expect(body.data).toEqual({ code: "address_not_allowed", address: "198.51.100.1" });
    expect(body.message).toContain("This API key can't be used from 198.51.100.1.");
    const created = await call("POST", keysPath(), { body: { name: "x" }, key: token });
    expect(created.body.data).toEqual({ code: "address_not_allowed", address: "127.0.0.1" });
  });

  it("shows its list in the shortest form, without duplicates", async () => {
    const { id } = await key({ allowed_addresses: ["2001:DB8:0::/32", "::ffff:203.0.113.7", "203.0.113.7"] });
    expect(await listOf(id)).toEqual(["2001:db8::/32", "203.0.113.7"]);
  });

  it.each([
    [["localhost"], "/allowed_addresses/0"],
    [["203.0.113.7", "203.0.113.7/24"], "/allowed_addresses/1"],
    [["203.0.113.0/33"], "/allowed_addresses/0"],
    [[""], "/allowed_addresses/0"],
    [[], "/allowed_addresses"],
  ])("can't be made with %j", async (allowed_addresses, path) => {
    const { status, body } = await test.current.call("POST", keysPath(), { body: { name: "x", allowed_addresses } });
    expect(status).toBe(400);
    expect(body.data.errors.map((fault: { path: string }) => fault.path)).toEqual([path]);
  });
});

describe("a key below a key with allowed addresses", () => {
  const parentList = ["127.0.0.0/8", "203.0.113.0/24"];
  const child = async (token: string, fields: object = {}) =>
    test.current.call("POST", keysPath(), { body: { name: "Child", ...fields }, key: token });

  it("has the same list unless it asks for a narrower one", async () => {
    const { token } = await key({ allowed_addresses: parentList });
    expect((await child(token)).body.api_key.allowed_addresses).toEqual(parentList);
    const narrower = { allowed_addresses: ["203.0.113.128/25"] };
    expect((await child(token, narrower)).body.api_key.allowed_addresses).toEqual(["203.0.113.128/25"]);
  });

  it.each([["203.0.112.0/23"], ["198.51.100.1"], ["0.0.0.0/0"], ["::/0"]])("can't have %s", async (wider) => {
    const { id, token } = await key({ allowed_addresses: parentList });
    const refused = await child(token, { allowed_addresses: ["203.0.113.1", wider] });
    expect(refused.body.data).toEqual({ code: "addresses_too_wide", allowed: parentList });
    const { body } = await child(token);
    for (const list of [[wider], null]) {
      const later = await setAddresses(body.api_key.id, list);
      expect(later.body.data).toEqual({ code: "addresses_too_wide", allowed: parentList });
    }
    expect((await setAddresses(id, [wider], token)).body.data.code).toBe("addresses_too_wide");
  });

  it("is reduced with it, however many keys lie between", async () => {
    const parent = await key();
    const middle = (await child(parent.token)).body;
    const grandchild = (await child(middle.token, { allowed_addresses: ["203.0.113.0/24", "127.0.0.1"] })).body;
    const elsewhere = (await child(middle.token, { allowed_addresses: ["198.51.100.1"] })).body;
    const { status } = await setAddresses(parent.id, ["203.0.113.7", "127.0.0.0/8"]);
    expect(status).toBe(200);
    expect(await listOf(middle.api_key.id)).toEqual(["203.0.113.7", "127.0.0.0/8"]);
    expect(await listOf(grandchild.api_key.id)).toEqual(["203.0.113.7", "127.0.0.1"]);
    expect(await listOf(elsewhere.api_key.id)).toEqual([]);
    expect((await validateFrom("198.51.100.1", elsewhere.token)).status).toBe(403);
  });

  it("is not wider if it is created while its creator is being restricted", async () => {
    const parent = await key();
    const [, ...created] = await Promise.all([
      setAddresses(parent.id, ["127.0.0.1"]),
      ...Array.from({ length: 10 }, () => child(parent.token)),
    ]);
    for (const { body } of created) expect(await listOf(body.api_key.id)).toEqual(["127.0.0.1"]);
  });
});

describe("the addresses of a key", () => {
  it("can be removed again", async () => {
    const { id, token } = await key({ allowed_addresses: ["203.0.113.7"] });
    expect((await setAddresses(id, null)).body.api_key).toMatchObject({ id, allowed_addresses: null });
    expect((await validateFrom("198.51.100.1", token)).status).toBe(200);
  });

  it("of another company's key can't be changed", async () => {
    const { call, otherCompany } = test.current;
    const { body } = await call("POST", `/v2/company/${otherCompany.company_id}/api-keys`, {
      body: { name: "Theirs" },
      key: otherCompany.api_key,
    });
    expect((await setAddresses(body.api_key.id, ["203.0.113.7"])).status).toBe(404);
  });
});
