import { expect, test } from "vitest";
import { findHost, indexHosts, readHost } from "./hosts.ts";

test.each([
  ["site.localhost", "site.localhost"],
  ["site.localhost:8081", "site.localhost"],
  ["site.localhost:", "site.localhost"],
  ["SITE.Localhost:80", "site.localhost"],
  ["site.localhost.", "site.localhost"],
  ["site.localhost.:8081", "site.localhost"],
  ["my_site.example", "my_site.example"],
  ["xn--bcher-kva.example", "xn--bcher-kva.example"],
  ["127.0.0.1:8081", "127.0.0.1"],
  ["[::1]:8081", "[::1]"],
])("the header %j has the name %s", (header, name) => {
  expect(readHost(header)).toBe(name);
});

test.each([
  undefined,
  "",
  " ",
  ".",
  ":80",
  "a b",
  "site..localhost",
  ".localhost",
  "site.localhost..",
  "-site.localhost",
  "site.localhost:port",
  "site.localhost:123456",
  "site.localhost:65536",
  "site.localhost:99999",
  "site.localhost:80:80",
  "site.localhost/",
  "user@site.localhost",
  "site.localhost,other.localhost",
  "*.localhost",
  "<script>",
  "site.localhost\u00e9",
  "[::1",
  "../etc",
  `${"a.".repeat(126)}aa`,
  "a".repeat(300),
])("the header %j is malformed", (header) => {
  expect(readHost(header)).toBeNull();
});

const hosts = indexHosts([
  { name: "site.localhost", environmentId: "site" },
  { name: "*.site.localhost", environmentId: "network" },
  { name: "shop.site.localhost", environmentId: "shop" },
  { name: "*.deep.site.localhost", environmentId: "deep" },
  { name: "Upper.Localhost", environmentId: "upper" },
]);

test.each([
  ["site.localhost", "site"],
  ["a.site.localhost", "network"],
  ["a.b.site.localhost", "network"],
  ["shop.site.localhost", "shop"],
  ["a.shop.site.localhost", "network"],
  ["deep.site.localhost", "network"],
  ["a.deep.site.localhost", "deep"],
  ["upper.localhost", "upper"],
  ["localhost", null],
  ["xsite.localhost", null],
  ["[::1]", null],
])("%s leads to %s", (name, environmentId) => {
  expect(findHost(hosts, name)).toBe(environmentId);
});
