import { expect, test } from "vitest";
import { phpNetwork } from "./phpNetwork.ts";
import { loadConfig } from "./settings/config.ts";

const rulesFor = (settings: Readonly<Record<string, string>>) => {
  const { forbidden, internal, mayReach } = phpNetwork(loadConfig(settings));
  return { forbidden, internal, mayReach };
};

test("PHP may not reach any service that a setting names", () => {
  expect(
    rulesFor({
      DATABASE_URL: "postgresql://ann:hush@db.example/x",
      SITEWRIGHT_SMTP_URL: "smtp://mail.example",
      SITEWRIGHT_DNS_BACKEND: "powerdns",
      SITEWRIGHT_POWERDNS_URL: "https://dns.example",
      SITEWRIGHT_POWERDNS_KEY: "hush",
      SITEWRIGHT_POWERDNS_ADDRESS: "10.1.2.3:53",
      SITEWRIGHT_RESOLVER: "10.1.2.4:53",
      SITEWRIGHT_ARCHIVE_URL: "s3://key:hush@store.example:9000/bucket?region=x&tls=off",
    }),
  ).toEqual({
    forbidden: ["db.example:5432", "mail.example:587", "dns.example:443", "10.1.2.3:53", "10.1.2.4:53"],
    internal: ["store.example:9000"],
    mayReach: [],
  });
});

test("PHP may reach the private networks of a setting", () => {
  expect(rulesFor({ SITEWRIGHT_PHP_MAY_REACH: "10.1.2.0/24,fd00:1::/64" })).toEqual({
    forbidden: [],
    internal: [],
    mayReach: ["10.1.2.0/24", "fd00:1::/64"],
  });
});
