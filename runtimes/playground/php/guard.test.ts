import { describe, expect, test } from "vitest";
import { decide, type GuardRules, type GuardWorld } from "./guard.ts";

const rules: GuardRules = {
  edgePort: 8081,
  siteSuffix: "sites.example",
  forbidden: ["db.example:5432", "[2606:2800::5]:6000"],
  internal: [],
  mayReach: [],
  packageSource: null,
  isOffline: false,
  maySendMail: true,
};

const names: Readonly<Record<string, readonly string[]>> = {
  "outside.example": ["93.184.216.34"],
  "loopback.example": ["127.0.0.1"],
  "own.example": ["192.0.2.7"],
  "mixed.example": ["127.0.0.1", "93.184.216.34", "::1"],
  "six.example": ["2606:2800::1"],
  "db.example": ["93.184.216.35"],
  "store.example": ["10.1.2.9"],
};

const world: GuardWorld = {
  resolve: async (name) => {
    const found = names[name];
    if (found === undefined) throw new Error("ENOTFOUND");
    return found;
  },
  namesOf: async () => [],
  ownAddresses: () => ["127.0.0.1", "192.0.2.7", "2001:db8::7", "fe80::1%eth0"],
};

const verdict = async (host: string, port: number) => decide(host, port, rules, world);

describe("PHP can't reach this host, in any notation", () => {
  test.each([
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "169.254.169.254",
    "192.0.2.7",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::192.0.2.7",
    "::ffff:192.0.2.7",
    "fe80::1",
    "fe80::1%eth0",
    "2001:db8::7",
    "2001:0db8:0:0:0:0:0:7",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "anything.localhost",
    "loopback.example",
    "own.example",
    "sites.example",
    "one.sites.example",
    "nowhere.example",
    "",
  ])("%j", async (host) => {
    expect(await verdict(host, 5432)).toEqual({ to: "nowhere" });
    expect(await verdict(host, 80)).toEqual({ to: "nowhere" });
  });
});

test.each(["93.184.216.34", "2606:2800::1"])("%s is outside", async (address) => {
  expect(await verdict(address, 443)).toEqual({ to: "addresses", addresses: [address] });
});

test.each([
  "10.0.0.5",
  "192.168.1.1",
  "172.17.0.2",
  "100.64.0.1",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "2002:a00:1::1",
  "::ffff:10.0.0.5",
  "64:ff9b::10.0.0.5",
  "store.example",
])("%s is in a network that PHP can't reach", async (host) => {
  expect(await verdict(host, 80)).toEqual({ to: "nowhere" });
});

describe("a private network that a setting opens", () => {
  const opened = {
    ...rules,
    mayReach: ["10.1.0.0/16", "fd00:1::/64", "127.0.0.0/8"],
    internal: ["store.example:9000", "outside.example:9000"],
  };
  const to = async (host: string, port: number) => (await decide(host, port, opened, world)).to;

  test("can be reached", async () => {
    expect(await decide("10.1.2.9", 80, opened, world)).toEqual({ to: "addresses", addresses: ["10.1.2.9"] });
    expect(await decide("fd00:1::9", 80, opened, world)).toEqual({ to: "addresses", addresses: ["fd00:1::9"] });
    expect([await to("10.2.0.1", 80), await to("fd00:2::1", 80)]).toEqual(["nowhere", "nowhere"]);
  });

  test("does not include this host, or services in the settings, which may be public ones elsewhere", async () => {
    expect([await to("127.0.0.1", 80), await to("store.example", 9000), await to("10.1.2.9", 9000)]).toEqual([
      "nowhere",
      "nowhere",
      "nowhere",
    ]);
    expect([await to("store.example", 80), await to("outside.example", 9000)]).toEqual(["addresses", "addresses"]);
  });
});

test.each([
  ["outside.example", ["93.184.216.34"]],
  ["six.example", ["2606:2800::1"]],
  ["mixed.example", ["93.184.216.34"]],
  ["64:ff9b::5db8:d822", ["93.184.216.34"]],
])("%s is reached at the checked addresses only", async (host, addresses) => {
  expect(await verdict(host, 443)).toEqual({ to: "addresses", addresses });
});

test.each(["one.sites.example", "ONE.sites.example.", "one.localhost", "127.0.0.1", "::1", "own.example", "192.0.2.7"])(
  "the edge's port on %s leads to the edge",
  async (host) => {
    expect(await verdict(host, 8081)).toEqual({ to: "edge" });
  },
);

test("the edge's port number on another host is an ordinary port", async () => {
  expect(await verdict("outside.example", 8081)).toEqual({ to: "addresses", addresses: ["93.184.216.34"] });
});

test("a database on another host can't be reached on its port, by name or address", async () => {
  for (const [host, port] of [
    ["db.example", 5432],
    ["93.184.216.35", 5432],
    ["2606:2800::5", 6000],
  ] as const) {
    expect(await verdict(host, port)).toEqual({ to: "nowhere" });
  }
  expect(await verdict("db.example", 443)).toEqual({ to: "addresses", addresses: ["93.184.216.35"] });
});

test.each(["outside.example", "93.184.216.34", "demo.sites.example", "127.0.0.1", "localhost"])(
  "an offline environment can't reach %s, not even through the edge",
  async (host) => {
    const offline = { ...rules, isOffline: true };
    for (const port of [80, 443, 8081]) expect(await decide(host, port, offline, world)).toEqual({ to: "nowhere" });
  },
);

test.each([25, 465, 587, 2525])("the mail port %s is reached only if the environment may send mail", async (port) => {
  const outside = { to: "addresses", addresses: ["93.184.216.34"] };
  expect(await decide("outside.example", port, { ...rules, maySendMail: true }, world)).toEqual(outside);
  for (const host of ["outside.example", "93.184.216.34", "2606:2800:220:1::1"]) {
    expect(await decide(host, port, { ...rules, maySendMail: false }, world)).toEqual({ to: "nowhere" });
  }
  expect(await decide("outside.example", 443, { ...rules, maySendMail: false }, world)).toEqual(outside);
});

test.each([
  ["http://127.0.0.1:8090", "127.0.0.1", 8090, "addresses"],
  ["http://127.0.0.1:8090/wporg", "127.0.0.1", 8090, "addresses"],
  ["http://127.0.0.1:8090", "127.0.0.1", 8091, "nowhere"],
  ["http://127.0.0.1:8090", "127.0.0.2", 8090, "nowhere"],
  ["https://127.0.0.1", "127.0.0.1", 443, "addresses"],
  ["https://127.0.0.1", "127.0.0.1", 80, "nowhere"],
  ["http://[::1]:8090", "::1", 8090, "addresses"],
  ["nonsense", "127.0.0.1", 8090, "nowhere"],
])("with the package source %s, %s:%i leads to %s", async (packageSource, host, port, to) => {
  expect((await decide(host, port, { ...rules, packageSource }, world)).to).toBe(to);
  expect((await decide(host, port, { ...rules, packageSource, isOffline: true }, world)).to).toBe("nowhere");
});
