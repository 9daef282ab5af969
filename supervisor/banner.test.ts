import { describe, expect, test } from "vitest";
import { baseUrl, siteUrl } from "./addresses.ts";
import { banner } from "./banner.ts";

const facts = {
  data: "/data",
  host: "127.0.0.1",
  apiHost: "127.0.0.1",
  controlPort: 8080,
  publicPort: 8081,
  publicTlsPort: 8443,
  dnsPort: 8053,
  powerDns: null,
  siteSuffix: "localhost",
  sites: 0,
  environments: 0,
  region: "europe-west3",
  firstRun: { company_id: "c", api_key: "sk_secret", admin_email: "owner@example.com" },
  isService: false,
};

/** The request body: the argument of `-d`. */
function bodyIn(text: string): unknown {
  return JSON.parse(/-d '(.*)'$/m.exec(text)?.[1] ?? "");
}

describe("the banner", () => {
  test("shows the address of the API and of its documentation", () => {
    expect(banner(facts)).toContain(
      "  API      http://127.0.0.1:8080/v2\n  Console  http://127.0.0.1:8080/\n  Docs     http://127.0.0.1:8080/docs\n",
    );
  });

  test("says that HTTPS needs a certificate, and which DNS server is used", () => {
    expect(banner(facts)).toContain("http://<site>.localhost:8081/\n");
    expect(banner(facts)).toContain("  HTTPS    port 8443, for domains that have a certificate\n");
    expect(banner(facts)).toContain("  DNS      127.0.0.1:8053\n");
    expect(banner({ ...facts, powerDns: { address: "192.0.2.53:53" } })).toContain(
      "  DNS      PowerDNS at 192.0.2.53:53\n",
    );
  });

  test("hides the API key, but its command reads it from the file", () => {
    const text = banner(facts);
    expect(text).not.toContain("sk_secret");
    expect(text).toContain("  API key  in /data/first-run.json, which only you can read\n");
    expect(text).toMatch(/Bearer \$\(sed .*'\/data\/first-run\.json'\)"/);
  });

  test("counts existing sites, and shows how to list them instead of creating one", () => {
    const text = banner({ ...facts, sites: 1, environments: 2 });
    expect(text).toContain("http://<site>.localhost:8081/ (1 site, 2 environments)\n");
    expect(text).toMatch(/^curl http:\/\/127\.0\.0\.1:8080\/v2\/sites -H /m);
    expect(text).not.toContain("display_name");
  });

  test("includes every required field in the example", () => {
    expect(Object.keys(Object(bodyIn(banner(facts))))).toEqual([
      "company",
      "display_name",
      "region",
      "site_title",
      "wp_language",
      "admin_email",
      "admin_user",
      "admin_password",
    ]);
  });

  test("has no example if the operator has deleted the credentials", () => {
    const text = banner({ ...facts, firstRun: null });
    expect(text).toContain("Sitewright is ready.");
    expect(text).not.toContain("curl");
  });

  test.each([facts.firstRun, null])(
    "says what stops it: in a terminal Ctrl-C, which a service never gets",
    (firstRun) => {
      expect(banner({ ...facts, firstRun })).toMatch(/^Stop .*with Ctrl-C\.$/m);
      const units = "sitewright.socket sitewright.service";
      expect(banner({ ...facts, firstRun, isService: true })).toMatch(`with systemctl stop ${units}.\n`);
    },
  );
});

test.each([
  ["127.0.0.1", 8080, "http://127.0.0.1:8080"],
  ["0.0.0.0", 80, "http://127.0.0.1"],
  ["::", 8080, "http://[::1]:8080"],
  ["::1", 80, "http://[::1]"],
])("the URL of a server on %s, port %i is %s", (host, port, url) => {
  expect(baseUrl(host, port)).toBe(url);
});

test("a site's URL has the port unless it is 80", () => {
  expect([siteUrl("demo", "localhost", 8081), siteUrl("demo", "example.com", 80)]).toEqual([
    "http://demo.localhost:8081/",
    "http://demo.example.com/",
  ]);
});
