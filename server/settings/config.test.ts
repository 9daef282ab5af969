import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { getDescription } from "valibot";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigError, loadConfig } from "./config.ts";
import { settings } from "./settings.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sitewright-config-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.problems;
    }
    throw error;
  }
  return [];
}

describe("an unset setting", () => {
  test("has the documented default", () => {
    expect(loadConfig({})).toMatchObject({
      smtpUrl: null,
      mailPerHour: 200,
      data: resolve("data"),
      host: "127.0.0.1",
      controlPort: 8080,
      edgePort: 8081,
      siteSuffix: "localhost",
      resolver: null,
      edgeAddresses: ["127.0.0.1"],
      acmeUrl: null,
      acmeEmail: null,
      acmeBinding: null,
      acmeCaFile: null,
      databaseUrl: null,
      firstApiKey: null,
      assets: resolve("data/assets"),
      environments: resolve("data/environments"),
      rateLimitPerMinute: 6000,
      creationLimitPerMinute: 60,
      backupHours: 24,
      restorableDays: 14,
      fullBackupDays: 7,
      archiveReadDays: 7,
      pageCacheMemoryBytes: 128 << 20,
      pageCacheDiskBytes: 1_024 * 1_048_576,
      testRestoresPerDay: 24,
      logLevel: "info",
    });
  });

  test("can be an empty variable", () => {
    expect(loadConfig({ SITEWRIGHT_CONTROL_PORT: "", DATABASE_URL: "" })).toEqual(loadConfig({}));
  });

  test("that names a folder defaults to one in the data folder", () => {
    const config = loadConfig({ SITEWRIGHT_DATA: folder });
    expect(config.assets).toBe(join(folder, "assets"));
    expect(config.environments).toBe(join(folder, "environments"));
  });
});

describe("the API's name", () => {
  const name = { SITEWRIGHT_API_NAME: "api.example.com", SITEWRIGHT_SITE_SUFFIX: "sites.example.com" };

  test("can have the operator's certificate", () => {
    const files = { SITEWRIGHT_API_CERTIFICATE: "/etc/api.pem", SITEWRIGHT_API_CERTIFICATE_KEY: "/etc/api.key" };
    expect(loadConfig({ ...name, ...files })).toMatchObject({
      apiName: "api.example.com",
      apiCertificate: { chain: "/etc/api.pem", key: "/etc/api.key" },
    });
    expect(loadConfig(name).apiCertificate).toBeNull();
    for (const missing of Object.keys({ ...files, SITEWRIGHT_API_NAME: "" })) {
      expect(() => loadConfig({ ...name, ...files, [missing]: "" })).toThrow(`${missing} is needed`);
    }
  });

  test.each([
    "api",
    "API.example.com",
    "-api.example.com",
    "203.0.113.7:443",
    "sites.example.com",
    "a.sites.example.com",
  ])("can't be %s", (wrong) => {
    expect(() => loadConfig({ ...name, SITEWRIGHT_API_NAME: wrong })).toThrow(`SITEWRIGHT_API_NAME=${wrong}`);
  });
});

describe("a setting", () => {
  test("is converted to its type", () => {
    const config = loadConfig({
      SITEWRIGHT_HOST: "::1",
      SITEWRIGHT_CONTROL_PORT: "0",
      SITEWRIGHT_EDGE_PORT: "65535",
      SITEWRIGHT_SITE_SUFFIX: "sites.example.com",
      SITEWRIGHT_RESOLVER: "[2620:fe::fe]:53",
      SITEWRIGHT_EDGE_ADDRESSES: "203.0.113.7,2001:DB8::7",
      DATABASE_URL: "postgresql://me:secret@localhost:5432/db?host=/run/x",
      SITEWRIGHT_FIRST_API_KEY: `sk_${"a".repeat(64)}`,
      SITEWRIGHT_ASSETS: "somewhere",
      SITEWRIGHT_LOG_LEVEL: "debug",
    });
    expect(config).toMatchObject({
      host: "::1",
      controlPort: 0,
      edgePort: 65535,
      siteSuffix: "sites.example.com",
      resolver: "[2620:fe::fe]:53",
      edgeAddresses: ["203.0.113.7", "2001:db8::7"],
      databaseUrl: "postgresql://me:secret@localhost:5432/db?host=/run/x",
      firstApiKey: `sk_${"a".repeat(64)}`,
      assets: resolve("somewhere"),
      logLevel: "debug",
    });
  });

  test("sets how long backups are kept, for all types or for one", () => {
    const daysOf = (env: NodeJS.ProcessEnv) => loadConfig(env).backupDays;
    expect(daysOf({})).toEqual({ manual: 14, scheduled: 14, "system-generated": 14 });
    expect(daysOf({ SITEWRIGHT_BACKUP_DAYS: "30", SITEWRIGHT_SCHEDULED_BACKUP_DAYS: "7" })).toEqual({
      manual: 30,
      scheduled: 7,
      "system-generated": 30,
    });
    const others = { SITEWRIGHT_MANUAL_BACKUP_DAYS: "90", SITEWRIGHT_SYSTEM_BACKUP_DAYS: "1" };
    expect(daysOf(others)).toEqual({ manual: 90, scheduled: 14, "system-generated": 1 });
  });

  test("sets how long deleted sites can be restored, regardless of how long other backups are kept", () => {
    const daysOf = (env: NodeJS.ProcessEnv) => loadConfig(env).restorableDays;
    expect(daysOf({})).toBe(14);
    expect(daysOf({ SITEWRIGHT_BACKUP_DAYS: "7", SITEWRIGHT_SYSTEM_BACKUP_DAYS: "3" })).toBe(7);
    expect(daysOf({ SITEWRIGHT_BACKUP_DAYS: "7", SITEWRIGHT_UNDELETE_DAYS: "60" })).toBe(60);
  });

  test("sets the external account binding, both its id and its key", () => {
    const [SITEWRIGHT_ACME_EAB_KEY_ID, SITEWRIGHT_ACME_EAB_KEY] = ["customer-7", "YSBrZXkgb2YgMzIgYnl0ZXM"];
    const { acmeBinding } = loadConfig({ SITEWRIGHT_ACME_EAB_KEY_ID, SITEWRIGHT_ACME_EAB_KEY });
    expect(acmeBinding).toEqual({ keyId: "customer-7", key: Buffer.from("a key of 32 bytes") });
    expect(() => loadConfig({ SITEWRIGHT_ACME_EAB_KEY_ID })).toThrow("SITEWRIGHT_ACME_EAB_KEY is needed, because");
    expect(() => loadConfig({ SITEWRIGHT_ACME_EAB_KEY })).toThrow("SITEWRIGHT_ACME_EAB_KEY_ID is needed, because");
  });

  test("sets the provider for signing in, named after its host if it has no name", () => {
    const registration = {
      SITEWRIGHT_OIDC_ISSUER: "https://login.example.com/realms/agency",
      SITEWRIGHT_OIDC_CLIENT_ID: "sitewright",
      SITEWRIGHT_OIDC_CLIENT_SECRET: "hush",
    };
    const expected = { issuer: registration.SITEWRIGHT_OIDC_ISSUER, clientId: "sitewright", clientSecret: "hush" };
    expect(loadConfig({}).signInProvider).toBeNull();
    const plain = { ...expected, name: "login.example.com", emailDomains: null };
    expect(loadConfig(registration).signInProvider).toEqual(plain);
    const more = { SITEWRIGHT_OIDC_NAME: "Agency", SITEWRIGHT_OIDC_EMAIL_DOMAINS: "example.com,example.org" };
    expect(loadConfig({ ...registration, ...more }).signInProvider).toEqual({
      ...expected,
      name: "Agency",
      emailDomains: ["example.com", "example.org"],
    });
  });

  test.each([
    ["SITEWRIGHT_OIDC_ISSUER", "https://login.example.com", "SITEWRIGHT_OIDC_CLIENT_SECRET is needed, because"],
    ["SITEWRIGHT_OIDC_NAME", "Agency", "SITEWRIGHT_OIDC_ISSUER is needed, because SITEWRIGHT_OIDC_NAME is set."],
    ["SITEWRIGHT_OIDC_ISSUER", "http://login.example.com", "is not accepted"],
    ["SITEWRIGHT_OIDC_ISSUER", "https://user:hush@login.example.com", "is not accepted"],
    ["SITEWRIGHT_OIDC_ISSUER", "https://[login", "is not accepted"],
    ["SITEWRIGHT_OIDC_EMAIL_DOMAINS", "@example.com", "is not accepted"],
  ])("refuses %s=%s as the only setting of a provider", (name, value, message) => {
    expect(() => loadConfig({ [name]: value })).toThrow(message);
  });

  test("sets the secondary DNS servers and their key", () => {
    const secret = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0Cg==";
    const of = (SITEWRIGHT_DNS_KEY: string) =>
      loadConfig({ SITEWRIGHT_DNS_SECONDARIES: "192.0.2.53:53,[2001:db8::53]:5353", SITEWRIGHT_DNS_KEY })
        .dnsSecondaries;
    expect(loadConfig({}).dnsSecondaries).toBeNull();
    expect(of(`transfer.example:${secret}`)).toEqual({
      addresses: [
        { address: "192.0.2.53", port: 53 },
        { address: "2001:db8::53", port: 5_353 },
      ],
      key: { name: "transfer.example", algorithm: "hmac-sha256", secret },
    });
    expect(of(`hmac-sha512:one:${secret}`)?.key).toEqual({ name: "one", algorithm: "hmac-sha512", secret });
  });

  test("has no examples with ports that the installation itself uses", () => {
    const { controlPort, edgePort, edgeTlsPort, dnsPort } = loadConfig({});
    const descriptions = Object.values(settings.entries).map((setting) =>
      String(getDescription("wrapped" in setting ? setting.wrapped : setting)),
    );
    expect(descriptions).not.toContain("undefined");
    for (const port of [controlPort, edgePort, edgeTlsPort, dnsPort]) {
      expect(descriptions.filter((description) => description.includes(`:${port}`))).toEqual([]);
    }
  });

  test("allows more workers where PHP is native, which needs less memory", () => {
    const workersWith = (SITEWRIGHT_REGIONS: string) => loadConfig({ SITEWRIGHT_REGIONS }).maxWorkers;
    expect(workersWith("this-machine,fast=native")).toBeGreaterThan(workersWith("this-machine"));
    expect(loadConfig({ SITEWRIGHT_RUNTIME: "native", SITEWRIGHT_MAX_WORKERS: "3" }).maxWorkers).toBe(3);
  });

  test("sets the regions for new sites, in its order: this machine, unless it names others", () => {
    const regionsOf = (SITEWRIGHT_REGIONS: string) => loadConfig({ SITEWRIGHT_REGIONS }).regions;
    const runtime = "playground";
    expect(regionsOf("")).toEqual([{ id: "this-machine", name: "This machine", runtime }]);
    expect(regionsOf("us-east1=playground,moon-base-1")).toEqual([
      { id: "us-east1", name: "Moncks Corner, South Carolina, USA", runtime },
      { id: "moon-base-1", name: "Moon base 1", runtime },
    ]);
  });

  test.each([
    ["a,", ['"" is not a name. Use lower-case letters, digits and hyphens, as in fast or europe-west3.']],
    ["This machine", [expect.stringMatching(/^"This machine" is not a name\. /)]],
    ["-a,b_c", [expect.stringMatching(/^"-a" is not a name\. /), expect.stringMatching(/^"b_c" is not a name\. /)]],
    ["a".repeat(64), [expect.stringMatching(/^"a{64}" is not a name\. /)]],
    ["fast,slow,fast=playground", ["fast is listed twice. List each region once."]],
    ["fast=turbo", [expect.stringMatching(/^fast has the unknown runtime "turbo"\. Runtimes: playground/)]],
    ["fast=", [expect.stringMatching(/^fast has the unknown runtime ""\. /)]],
    ["fast=playground=2", [expect.stringMatching(/^fast has the unknown runtime "playground=2"\. /)]],
  ])("refuses the regions %s", (SITEWRIGHT_REGIONS, problems) => {
    expect(problemsOf({ SITEWRIGHT_REGIONS }).map((each) => each.replace("SITEWRIGHT_REGIONS: ", ""))).toEqual(
      problems,
    );
  });

  test("refuses an unknown runtime", () => {
    expect(problemsOf({ SITEWRIGHT_RUNTIME: "turbo" })).toEqual([
      expect.stringMatching(/^SITEWRIGHT_RUNTIME=turbo is not accepted\. .*: playground/),
    ]);
  });

  test("sets the PowerDNS that replaces the built-in server", () => {
    const powerDns = { SITEWRIGHT_DNS_BACKEND: "powerdns", SITEWRIGHT_POWERDNS_KEY: "k" };
    const SITEWRIGHT_POWERDNS_URL = "http://127.0.0.1:8081/";
    expect(loadConfig({}).powerDns).toBeNull();
    expect(loadConfig({ SITEWRIGHT_POWERDNS_URL, SITEWRIGHT_POWERDNS_KEY: "k" }).powerDns).toBeNull();
    expect(loadConfig({ ...powerDns, SITEWRIGHT_POWERDNS_URL }).powerDns).toEqual({
      url: "http://127.0.0.1:8081",
      key: "k",
      address: "127.0.0.1:53",
    });
  });

  test.each([
    [{ SITEWRIGHT_DNS_SECONDARIES: "192.0.2.53:53" }, /^SITEWRIGHT_DNS_KEY is needed, because/],
    [{ SITEWRIGHT_DNS_BACKEND: "powerdns", SITEWRIGHT_POWERDNS_KEY: "k" }, /^SITEWRIGHT_POWERDNS_URL is needed/],
    [{ SITEWRIGHT_DNS_BACKEND: "powerdns", SITEWRIGHT_POWERDNS_URL: "http://a" }, /^SITEWRIGHT_POWERDNS_KEY is needed/],
  ])("%j reports the missing setting that it needs", (env, message) => {
    const [problem, ...more] = problemsOf(env);
    expect(more).toEqual([]);
    expect(problem).toMatch(message);
  });

  test("is read-only", () => {
    expect(Object.isFrozen(loadConfig({}))).toBe(true);
  });

  test.each([
    ["SITEWRIGHT_CONTROL_PORT", "80.5"],
    ["SITEWRIGHT_CONTROL_PORT", "-1"],
    ["SITEWRIGHT_CONTROL_PORT", "65536"],
    ["SITEWRIGHT_CONTROL_PORT", "8080abc"],
    ["SITEWRIGHT_EDGE_PORT", "http"],
    ["SITEWRIGHT_EDGE_PORT", "1e3"],
    ["SITEWRIGHT_MAX_PHP_MEMORY_MB", "63"],
    ["SITEWRIGHT_DISK_QUOTA_MB", "0"],
    ["SITEWRIGHT_DISK_QUOTA_MB", "10 GB"],
    ["SITEWRIGHT_HOST", "no host"],
    ["SITEWRIGHT_API_HOST", "localhost"],
    ["SITEWRIGHT_RESOLVER", "9.9.9.9"],
    ["SITEWRIGHT_RESOLVER", "999.9.9.9:53"],
    ["SITEWRIGHT_RESOLVER", "9.9.9.9:0"],
    ["SITEWRIGHT_EDGE_ADDRESSES", "203.0.113.7;203.0.113.8"],
    ["SITEWRIGHT_EDGE_ADDRESSES", "203.0.113.999"],
    ["SITEWRIGHT_PHP_MAY_REACH", "10.0.0.5"],
    ["SITEWRIGHT_PHP_MAY_REACH", "10.0.0.0/8,10.0.0.0/33"],
    ["SITEWRIGHT_SITE_SUFFIX", "Upper.example"],
    ["SITEWRIGHT_SITE_SUFFIX", ".example"],
    ["SITEWRIGHT_SITE_SUFFIX", "a..b"],
    ["SITEWRIGHT_SITE_SUFFIX", "a".repeat(64)],
    ["SITEWRIGHT_MAX_WORKERS", "0"],
    ["SITEWRIGHT_BACKUP_HOURS", "169"],
    ["SITEWRIGHT_BACKUP_HOURS", "0.5"],
    ["SITEWRIGHT_FULL_BACKUP_DAYS", "0"],
    ["SITEWRIGHT_FULL_BACKUP_DAYS", "366"],
    ["SITEWRIGHT_ARCHIVE_READ_DAYS", "0"],
    ["SITEWRIGHT_PAGE_CACHE_MEMORY_MB", "0"],
    ["SITEWRIGHT_PAGE_CACHE_DISK_MB", "-1"],
    ["SITEWRIGHT_ARCHIVE_READ_DAYS", "366"],
    ["SITEWRIGHT_MANUAL_BACKUP_DAYS", "0"],
    ["SITEWRIGHT_SCHEDULED_BACKUP_DAYS", "3651"],
    ["SITEWRIGHT_SYSTEM_BACKUP_DAYS", "two weeks"],
    ["SITEWRIGHT_UNDELETE_DAYS", "0"],
    ["SITEWRIGHT_PROOFS_PER_DAY", "0"],
    ["SITEWRIGHT_PROOFS_PER_DAY", "1441"],
    ["SITEWRIGHT_LOG_LEVEL", "loud"],
    ["SITEWRIGHT_DNS_SECONDARIES", "ns2.example.net:53"],
    ["SITEWRIGHT_DNS_SECONDARIES", "192.0.2.53"],
    ["SITEWRIGHT_DNS_SECONDARIES", "192.0.2.53:53,"],
    ["SITEWRIGHT_DNS_BACKEND", "bind"],
    ["SITEWRIGHT_POWERDNS_URL", "127.0.0.1:8081"],
    ["SITEWRIGHT_POWERDNS_ADDRESS", "localhost:53"],
    ["SITEWRIGHT_POWERDNS_ADDRESS", "127.0.0.1:0"],
  ])("%s is rejected as %j, with the given and the accepted values", (name, value) => {
    const [problem, ...more] = problemsOf({ [name]: value });
    expect(more).toEqual([]);
    expect(problem).toContain(`${name}=${value} is not accepted. Accepted: `);
  });

  test("each wrong entry in the list of trusted proxies is reported", () => {
    expect(loadConfig({ SITEWRIGHT_TRUSTED_PROXIES: "10.1.2.0/24,::1" }).trustedProxies).toEqual([
      "10.1.2.0/24",
      "::1",
    ]);
    expect(problemsOf({ SITEWRIGHT_TRUSTED_PROXIES: "10.1.2.3, proxy,0.0.0.0/0" })).toEqual([
      expect.stringMatching(/^SITEWRIGHT_TRUSTED_PROXIES: " proxy" is neither/),
      expect.stringMatching(/^SITEWRIGHT_TRUSTED_PROXIES: "0\.0\.0\.0\/0" contains all addresses/),
    ]);
  });

  test.each(["93.184.216.34", "2606:2800::1"])("the public address %s is refused for the API", (address) => {
    expect(problemsOf({ SITEWRIGHT_API_HOST: address })).toEqual([
      expect.stringMatching(
        /would publish the API without TLS.*SITEWRIGHT_API_NAME, which the sites' TLS port serves\.$/,
      ),
    ]);
  });

  test("the API may listen in a private network, while sites are public", () => {
    const config = loadConfig({ SITEWRIGHT_API_HOST: "10.0.0.5", SITEWRIGHT_HOST: "0.0.0.0" });
    expect([config.apiHost, config.host]).toEqual(["10.0.0.5", "0.0.0.0"]);
    expect(loadConfig({ SITEWRIGHT_HOST: "0.0.0.0" }).apiHost).toBe("127.0.0.1");
  });

  test.each([
    ["DATABASE_URL", "mysql://root:hidden@localhost/db"],
    ["DATABASE_URL", "postgresql://me:hidden@local host:port/db"],
    ["SITEWRIGHT_FIRST_API_KEY", "hidden"],
    ["SITEWRIGHT_FIRST_API_KEY", "sk_hidden with a space"],
    ["SITEWRIGHT_METRICS_TOKEN", "hidden"],
    ["SITEWRIGHT_DNS_KEY", "transfer.example:hidden"],
    ["SITEWRIGHT_DNS_KEY", "hmac-md5:transfer.example:hiddenhiddenhiddenhidden"],
    ["SITEWRIGHT_POWERDNS_KEY", "hidden key"],
  ])("%s is rejected without being quoted, because it contains a secret", (name, value) => {
    const [problem] = problemsOf({ [name]: value });
    expect(problem).toMatch(new RegExp(`^${name} .*Accepted: `));
    expect(problem).not.toContain("hidden");
  });

  test.each([
    ["ftp://AKIA:hidden@host/bucket", "does not begin with s3:// or file://"],
    ["s3://AKIA:hidden@host", "has no bucket"],
    ["s3://AKIA@host/bucket", "has no secret"],
    ["s3://AKIA:hid/den@host/bucket", "is not a valid URL"],
    ["s3://AKIA:hidden@host/bucket?tls=on", "sets tls to a value other than off"],
    ["file://folder", "has a host before the folder"],
  ])("SITEWRIGHT_ARCHIVE_URL is checked completely: %s", (value, message) => {
    const [problem, ...more] = problemsOf({ SITEWRIGHT_ARCHIVE_URL: value });
    expect(more).toEqual([]);
    expect(problem).toMatch(/^SITEWRIGHT_ARCHIVE_URL: The archive URL .* Accepted: s3:\/\/KEY:SECRET@host:port/);
    expect(problem).toContain(message);
    expect(problem).not.toMatch(/hid|den@/);
  });

  test("has a description of the accepted values", () => {
    for (const [name, setting] of Object.entries(settings.entries)) {
      expect(getDescription(setting.type === "nullable" ? setting.wrapped : setting), name).toBeTruthy();
    }
  });
});

describe("errors", () => {
  test("are reported all at once", () => {
    const wrong = { SITEWRIGHT_CONTROL_PORT: "x", SITEWRIGHT_EDGE_PORT: "y", SITEWRIGHT_DATTA: "z" };
    expect(problemsOf({ ...wrong, SITEWRIGHT_ARCHIVE_URL: "s3://a:b@host" })).toHaveLength(4);
    expect(() => loadConfig({ SITEWRIGHT_CONTROL_PORT: "x" })).toThrow(/^Some settings are wrong:\n {2}SITEWRIGHT_CON/);
  });

  test("suggest the setting that was probably meant", () => {
    expect(problemsOf({ SITEWRIGHT_CONTROLPORT: "1" })).toEqual([
      "SITEWRIGHT_CONTROLPORT is not a setting. Did you mean SITEWRIGHT_CONTROL_PORT?",
    ]);
  });

  test("name the new name of a setting that was renamed", () => {
    expect(problemsOf({ SITEWRIGHT_SPARE_WORKERS: "3" })).toEqual([
      "SITEWRIGHT_SPARE_WORKERS is now called SITEWRIGHT_PREPARED_WORKERS. Use that name.",
    ]);
  });

  test("ignore names that resemble no setting: they may belong to other tools", () => {
    expect(problemsOf({ SITEWRIGHT_API_KEY: "1", SITEWRIGHT_URL: "http://127.0.0.1:8080" })).toEqual([]);
  });

  test("ignore variables of other programs and of tests", () => {
    expect(problemsOf({ PATH: "/bin", HOSTNAME: "x", SITEWRIGHT_TEST_POSTGRES: "x" })).toEqual([]);
  });
});

describe("the folder for sockets", () => {
  test("is short even if the path of the data folder is long", () => {
    const long = join(folder, ...Array.from({ length: 20 }, () => "x".repeat(50)));
    expect(loadConfig({ SITEWRIGHT_DATA: long }).run.length).toBeLessThan(tmpdir().length + 30);
  });

  test("is the same for all paths to a data folder, and differs between data folders", () => {
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    const run = (name: string) => loadConfig({ SITEWRIGHT_DATA: join(folder, name, "data") }).run;
    expect(run("link")).toBe(run("real"));
    expect(run("other")).not.toBe(run("real"));
  });
});

test("an error in SITEWRIGHT_SMTP_URL does not quote the password", () => {
  const problems = problemsOf({ SITEWRIGHT_SMTP_URL: "http://ada:geheim@mail.example.com" });
  expect(problems).toEqual([
    expect.stringMatching(/^SITEWRIGHT_SMTP_URL is not accepted\. Accepted: the mail server /),
  ]);
  expect(problems.join()).not.toContain("geheim");
});

test.each(["bounces", "a b@example.com", "Bounces <b@example.com>", "b@example.com\r\nX: y", "b@-example.com"])(
  "%j is not accepted as the return address for bounces",
  (address) => {
    expect(problemsOf({ SITEWRIGHT_MAIL_FROM: address })).toHaveLength(1);
  },
);
