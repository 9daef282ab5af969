import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleSpec } from "../conformance.ts";
import { passwordDigest } from "../password.ts";
import { RuntimeFailure } from "../runtime.ts";
import { findPlaceholders } from "./templates/findPlaceholders.ts";
import { databaseFile } from "./templates/template.ts";
import { runPhp, type Site, visitorOf } from "./testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
beforeAll(async () => {
  world = await openPlayground({ maxWorkers: 1, spareWorkers: 1 });
}, 120_000);
afterAll(() => world.close());

const kinds = [
  { locale: "en_US", multisite: null },
  { locale: "de_DE", multisite: null },
  { locale: "en_US", multisite: "subdirectory" },
  { locale: "de_DE", multisite: "subdirectory" },
  { locale: "en_US", multisite: "subdomain" },
] as const;

function hashOfAdministrator(database: DatabaseSync): string {
  const row = database.prepare("SELECT user_pass AS hash FROM wp_users WHERE ID = 1").get();
  return String(row?.hash);
}

/** Reads a copy of the site's database, so that nothing is blocked. */
async function withDatabase<T>(site: Site, read: (database: DatabaseSync) => T): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), "database-"));
  const copy = path.join(folder, databaseFile);
  await copyFile(path.join(site.documentRoot, "../database", databaseFile), copy);
  const database = new DatabaseSync(copy);
  try {
    return read(database);
  } finally {
    database.close();
    await rm(folder, { recursive: true });
  }
}

describe.each(kinds)("WordPress in $locale, network: $multisite", ({ locale, multisite }) => {
  let site: Site;
  const password = "correct horse";
  beforeAll(async () => {
    site = await world.site({
      locale,
      multisite,
      adminUser: "Jane.Doe",
      adminPasswordDigest: passwordDigest(password),
    });
  }, 120_000);

  test("has an intact database without a trace of the template", async () => {
    await withDatabase(site, (database) => {
      expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
      expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "delete" });
      expect(findPlaceholders(database)).toEqual([]);
      expect(database.prepare("SELECT * FROM wp_users").get()).toMatchObject({
        user_login: "Jane.Doe",
        user_nicename: "jane-doe",
        display_name: "Jane.Doe",
        user_email: site.wordpress.adminEmail,
        user_url: site.wordpress.address,
        user_pass: expect.stringMatching(/^\$wp\$2y\$10\$.{53}$/),
      });
      const option = database.prepare("SELECT option_value AS value FROM wp_options WHERE option_name = ?");
      expect(option.get("siteurl")).toEqual({ value: site.wordpress.address });
      expect(option.get("blogname")).toEqual({ value: site.wordpress.title });
      const dates = database.prepare("SELECT unixepoch('now') - unixepoch(post_date_gmt) AS age FROM wp_posts");
      for (const { age } of dates.all()) expect(Math.abs(Number(age))).toBeLessThan(600);
    });
  });

  test("shows its front page in its language", async () => {
    const page = await visitorOf(world.serving, site).get("/");
    expect(page.status).toBe(200);
    expect(page.text).toContain(locale === "de_DE" ? '<html lang="de"' : '<html lang="en-US"');
    expect(page.text).toContain(`<title>${site.wordpress.title}`);
    expect(page.text).toContain("</html>");
    expect(page.text).not.toContain("placeholder.invalid");
    expect(page.text).toContain(site.wordpress.address);
    expect(page.text).not.toContain(site.wordpress.address.replace("http:", "https:"));
  }, 60_000);

  test("lets its administrator log in, and no one with another password", async () => {
    expect(await visitorOf(world.serving, site).logIn("Jane.Doe", "wrong")).toBe(false);
    const visitor = visitorOf(world.serving, site);
    expect(await visitor.logIn("Jane.Doe", password)).toBe(true);
    if (multisite !== null) {
      const network = await visitor.get("/wp-admin/network/");
      expect(network.status).toBe(200);
      expect(network.text).toContain("network-admin");
    }
  }, 60_000);

  test("has no files of the runtime, the template or another language", async () => {
    const names = await readdir(site.documentRoot, { recursive: true });
    expect(names.filter((name) => /\.sqlite|\.lock$|release\.json/.test(name))).toEqual([]);
    const languages = names.filter((name) => name.startsWith("wp-content/languages/") && name.endsWith(".l10n.php"));
    expect(languages.filter((name) => !name.includes(locale))).toEqual([]);
    expect(languages.length > 0).toBe(locale !== "en_US");
  });
});

test("the sites of a subdomain network set cookies that browsers accept", async () => {
  const site = await world.site({ multisite: "subdomain" });
  const page = await visitorOf(world.serving, site).get("/wp-login.php");
  const { hostname } = new URL(site.wordpress.address);
  expect(page.headers["set-cookie"]).toContain(`domain=.${hostname};`);
}, 60_000);

describe("a title is shown exactly as it was entered", () => {
  const titles: readonly (readonly [title: string, html: string])[] = [
    [`"><script>alert(1)</script>`, "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"],
    ["Fish &amp; Chips & Co", "Fish &amp;amp; Chips &amp; Co"],
    [`It's "quoted"`, "It&#039;s &quot;quoted&quot;"],
    ["'; DROP TABLE wp_options; --", "&#039;; DROP TABLE wp_options;"],
    ["Garten 🦄 مرحبا \u202eabc", "Garten 🦄 مرحبا \u202eabc"],
    ["Placeholdertitle placeholderuser placeholder.invalid", "Placeholdertitle placeholderuser placeholder.invalid"],
    ['$1 $& \\0 %s a:1:{s:1:"x";}', "$1 $&amp; \\0 %s a:1:{s:1:&quot;x&quot;;}"],
  ];

  test.each([
    ["all in one", titles],
    ["only a serialised value", [["b:0;", "b:0;"]]],
    ["only a serialised list", [['a:1:{i:0;s:1:"x";}', "a:1:{i:0;s:1:&quot;x&quot;;}"]]],
  ] as const)(
    "%s",
    async (_, parts) => {
      const site = await world.site({ title: parts.map(([title]) => title).join(" | ") });
      const page = await visitorOf(world.serving, site).get("/");
      const shown = page.text.slice(page.text.indexOf("<title>"), page.text.indexOf("</title>"));
      for (const [, html] of parts) expect(shown).toContain(html);
      expect(shown.startsWith(`<title>${parts[0]?.[1]}`)).toBe(true);
      expect(page.text).not.toContain("<script>alert");
    },
    60_000,
  );
});

test("a password works whatever characters it contains", async () => {
  const passwords = [
    "it's",
    `a"b"`,
    "back\\slash\\",
    "$dollar $1 $" + "{x}",
    "emoji 🦄",
    "  blanks at the ends  ",
    "ünïcödé",
    "x".repeat(200),
  ];
  const sites: Site[] = [];
  for (const password of passwords) sites.push(await world.site({ adminPasswordDigest: passwordDigest(password) }));
  const hashes = await Promise.all(sites.map((site) => withDatabase(site, hashOfAdministrator)));
  // Checks each password as the login form passes it on (slashes added, blanks trimmed) in one request, because a login
  // at each site would need a worker for each.
  const pairs = Buffer.from(JSON.stringify(passwords.map((password, index) => [password, hashes[index]]))).toString(
    "base64",
  );
  const [site] = sites;
  if (site === undefined) throw new Error("There is no site.");
  const code = `require 'wp-load.php'; foreach ( json_decode( base64_decode( '${pairs}' ) ) as [ $password, $hash ] )
    echo (int) wp_check_password( trim( wp_slash( $password ) ), $hash );`;
  expect(await runPhp(world.serving, site, code)).toBe("1".repeat(passwords.length));
  expect(await visitorOf(world.serving, site).logIn("admin", "it's")).toBe(true);
}, 120_000);

test("no one can log in before a password is set, and then only with the first one", async () => {
  const site = await world.site({ adminPasswordDigest: null });
  const logsIn = (password: string) => visitorOf(world.serving, site).logIn("admin", password);
  expect([await logsIn(""), await logsIn("*"), await logsIn("first")]).toEqual([false, false, false]);
  for (const password of ["first", "second"]) {
    await world.runtime.setAdminPassword(site.environment, passwordDigest(password));
  }
  expect([await logsIn("second"), await logsIn("first")]).toEqual([false, true]);
}, 60_000);

test.each(["8.1", "8.2", "8.4", "8.5"])(
  "PHP %s serves the front page",
  async (phpVersion) => {
    const site = await world.site();
    const layout = await world.runtime.layout(site.environment);
    if (layout === null) throw new Error("no layout");
    await world.serving.setEnvironments([{ ...site.environment, ...layout, phpVersion }]);
    const page = await visitorOf(world.serving, site).get("/");
    expect(page.status).toBe(200);
    expect(page.text).toContain(site.wordpress.title);
  },
  60_000,
);

test.each(["", "two  spaces", " x", "a'b", "ö", "x".repeat(61), "<b>"])(
  "an administrator can't have the name %j",
  async (adminUser) => {
    const spec = exampleSpec({ adminUser });
    await expect(world.runtime.provision(spec)).rejects.toThrow(RuntimeFailure);
    expect(await readdir(world.environments)).not.toContain(spec.environment.id);
  },
);
