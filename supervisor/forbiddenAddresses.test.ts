import { phpNetwork } from "@sitewright/server/phpNetwork.ts";
import { loadConfig } from "@sitewright/server/settings/config.ts";
import { expect, test } from "vitest";
import { forbiddenAddresses } from "./forbiddenAddresses.ts";

test.each(["?region=x", "?region=x&tls=off"])(
  "the edge closes the same services to PHP as WP-CLI does, without their credentials: %s",
  (options) => {
    const config = loadConfig({
      DATABASE_URL: "postgresql://ann:hush@db.example:5433/x",
      SITEWRIGHT_SMTP_URL: "smtp://ann:hush@mail.example",
      SITEWRIGHT_DNS_BACKEND: "powerdns",
      SITEWRIGHT_POWERDNS_URL: "http://dns.example:8081",
      SITEWRIGHT_POWERDNS_KEY: "hush",
      SITEWRIGHT_POWERDNS_ADDRESS: "192.0.2.5:53",
      SITEWRIGHT_ARCHIVE_URL: `s3://ann:hush@store.example/bucket${options}`,
    });
    const env = forbiddenAddresses(config);
    expect(JSON.stringify(env)).not.toContain("hush");
    const { forbidden, internal } = phpNetwork(config);
    expect(forbidden).toHaveLength(4);
    expect(internal).toHaveLength(1);
    expect(phpNetwork(loadConfig(env))).toMatchObject({ forbidden, internal });
  },
);
