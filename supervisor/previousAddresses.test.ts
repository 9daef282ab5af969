import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withPreviousAddresses } from "./previousAddresses.ts";
import { writeInstallation } from "./records.ts";
import { testFolder } from "./testing/folder.ts";

const chosen = { controlPort: 9080, edgePort: 9081, edgeTlsPort: 9443, dnsPort: 9053, siteSuffix: "sites.example" };

test("keeps the ports and the suffix of the sites unless they are set", () => {
  const data = join(testFolder(), "data");
  mkdirSync(data);
  expect(withPreviousAddresses({ SITEWRIGHT_DATA: data })).toEqual({ SITEWRIGHT_DATA: data });
  writeInstallation(data, chosen);
  expect(withPreviousAddresses({ SITEWRIGHT_DATA: data, SITEWRIGHT_EDGE_PORT: "", OTHER: "1" })).toEqual({
    SITEWRIGHT_DATA: data,
    SITEWRIGHT_EDGE_PORT: "9081",
    SITEWRIGHT_EDGE_TLS_PORT: "9443",
    SITEWRIGHT_SITE_SUFFIX: "sites.example",
    OTHER: "1",
  });
});

test("ports that are forwarded stay those in addresses", () => {
  const data = join(testFolder(), "data");
  mkdirSync(data);
  writeInstallation(data, { ...chosen, publicPort: 80, publicTlsPort: 443 });
  expect(withPreviousAddresses({ SITEWRIGHT_DATA: data, SITEWRIGHT_PUBLIC_TLS_PORT: "8443" })).toMatchObject({
    SITEWRIGHT_EDGE_PORT: "9081",
    SITEWRIGHT_PUBLIC_PORT: "80",
    SITEWRIGHT_PUBLIC_TLS_PORT: "8443",
  });
});

test("a setting overrides the value of the last start", () => {
  const data = join(testFolder(), "data");
  mkdirSync(data);
  writeInstallation(data, chosen);
  expect(withPreviousAddresses({ SITEWRIGHT_DATA: data, SITEWRIGHT_EDGE_PORT: "80" }).SITEWRIGHT_EDGE_PORT).toBe("80");
});
