import { expect, test } from "vitest";
import type { GuardRules, GuardWorld } from "./guard.ts";
import { HostNames } from "./hostNames.ts";

const rules: GuardRules = {
  edgePort: 8081,
  siteSuffix: "sites.example",
  forbidden: [],
  internal: [],
  mayReach: ["10.1.0.0/16"],
  packageSource: "http://mirror.example:8000/packages",
  isOffline: false,
  maySendMail: true,
};

const addresses: Readonly<Record<string, readonly string[]>> = {
  "outside.example": ["2606:2800::1", "93.184.216.34"],
  "mixed.example": ["10.9.9.9", "93.184.216.35"],
  "six.example": ["2606:2800::1"],
  "private.example": ["10.9.9.9", "192.168.1.1"],
  "metadata.example": ["169.254.169.254"],
  "opened.example": ["10.1.2.3"],
  "own.example": ["192.0.2.7"],
  "mirror.example": ["10.9.9.8"],
};

let lookups: string[] = [];
const world: GuardWorld = {
  resolve: async (name) => {
    lookups.push(name);
    const found = addresses[name];
    if (found === undefined) throw new Error("ENOTFOUND");
    return found;
  },
  namesOf: async (address) => {
    lookups.push(address);
    return address === "93.184.216.34" ? ["outside.example"] : [];
  },
  ownAddresses: () => ["127.0.0.1", "192.0.2.7"],
};

function hostNames(changes: Partial<GuardRules> = {}): HostNames {
  lookups = [];
  return new HostNames(() => ({ ...rules, ...changes }), world);
}

/** The networks that WordPress, or PHP's filters, take for private or reserved. */
const special =
  /^(0|10|127|22[4-9]|2[3-5]\d)\.|^172\.(1[6-9]|2\d|3[01])\.|^192\.(168|0\.[02]|88\.99)\.|^198\.(1[89]|51\.100)\.|^203\.0\.113\.|^169\.254\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;

test.each([
  ["93.184.216.99", "93.184.216.99"],
  ["10.9.9.9", "10.9.9.9"],
  ["outside.example", "93.184.216.34"],
  ["mixed.example", "93.184.216.35"],
  ["opened.example", "10.1.2.3"],
  ["localhost", "127.0.0.1"],
  ["LocalHost", "127.0.0.1"],
  ["own.example", "127.0.0.1"],
  ["private.example", null],
  ["metadata.example", null],
])("%s is at %s", async (name, address) => {
  expect(await hostNames().addressOf(name)).toBe(address);
});

test.each(["six.example", "unknown.example", "shop.sites.example", "mirror.example"])(
  "%s gets a public placeholder, which leads back to the name",
  async (name) => {
    const names = hostNames();
    const address = await names.addressOf(name);
    expect(address).not.toMatch(special);
    expect(names.targetOf(address ?? "")).toBe(name);
    expect(await names.addressOf(name)).toBe(address);
  },
);

test("a name that has become private is unreachable", async () => {
  let found = ["93.184.216.34"];
  const names = new HostNames(() => rules, { ...world, resolve: async () => found });
  expect(await names.addressOf("rebinding.example")).toBe("93.184.216.34");
  found = ["127.0.0.2", "10.0.0.1"];
  expect(await names.addressOf("rebinding.example")).toBeNull();
});

test("placeholders don't run out: the one that was not used for the longest is used again", async () => {
  const names = hostNames({ isOffline: true });
  const first = await names.addressOf("first.example");
  const second = (await names.addressOf("second.example")) ?? "";
  for (let number = 0; number < 506; number += 1) {
    await names.addressOf("first.example");
    await names.addressOf(`${number}.example`);
  }
  expect(names.targetOf(second)).toBe("second.example");
  await names.addressOf("last.example");
  expect(names.targetOf(second)).toBe("last.example");
  expect(await names.addressOf("first.example")).toBe(first);
});

test("nothing is looked up without a network", async () => {
  const offline = hostNames({ isOffline: true });
  expect(await offline.addressOf("outside.example")).not.toMatch(special);
  expect(await offline.nameOf("93.184.216.34")).toBeNull();
  const none = new HostNames(() => null, world);
  expect(await none.addressOf("outside.example")).not.toMatch(special);
  expect(lookups).toEqual([]);
});

test("addresses have names, unless they are private", async () => {
  expect(await hostNames().nameOf("93.184.216.34")).toBe("outside.example");
  expect(await hostNames().nameOf("93.184.216.35")).toBeNull();
  expect(await hostNames().nameOf("10.1.2.3")).toBeNull();
  expect(lookups).toEqual([]);
});
