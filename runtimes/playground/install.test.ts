import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleSpec } from "../conformance/conformance.ts";
import { passwordDigest } from "../password.ts";
import { RuntimeFailure } from "../runtime.ts";
import { hashPassword } from "../site/values/passwordHash.ts";
import { databaseFile } from "../sqlite/databaseFiles.ts";
import { findPlaceholders } from "../sqlite/findPlaceholders.ts";
import { servedAs } from "../testing/handMade.ts";
import { runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
beforeAll(async () => {
  world = await openPlayground({ maxWorkers: 1 });
}, 120_000);
afterAll(() => world.close());

const kinds = [
  { locale: "en_US", multisite: null, title: "Garden", titleHtml: "Garden" },
  { locale: "de_DE", multisite: null, title: "b:0;", titleHtml: "b:0;" },
  {
    locale: "en_US",
    multisite: "subdirectory",
    title: 'a:1:{i:0;s:1:"x";}',
    titleHtml: "a:1:{i:0;s:1:&quot;x&quot;;}",
  },
  { locale: "de_DE", multisite: "subdirectory", title: "Gärten", titleHtml: "Gärten" },
  { locale: "en_US", multisite: "subdomain", title: "Gardens", titleHtml: "Gardens" },
] as const;

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

describe.each(kinds)("WordPress in $locale, network: $multisite", ({ locale, multisite, title, titleHtml }) => {
  let site: Site;
  const password = `it's a "correct" \\horse`;
  beforeAll(async () => {
    site = await world.site({
      locale,
      multisite,
      title,
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
      const dates = database.prepare("SELECT unixepoch('now') - unixepoch(post_date_gmt) AS age FROM wp_posts");
      for (const { age } of dates.all()) expect(Math.abs(Number(age))).toBeLessThan(600);
    });
    expect(await world.runtime.wordpress(site.environment)).toMatchObject({ title, locale, multisite });
  });

  test("shows its front page in its language and with its title", async () => {
    const page = await visitorOf(world.serving, site).get("/");
    expect(page.status).toBe(200);
    expect(page.text).toContain(locale === "de_DE" ? '<html lang="de"' : '<html lang="en-US"');
    expect(page.text).toContain(`<title>${titleHtml}`);
    expect(page.text).toContain("</html>");
    expect(page.text).not.toContain("placeholder.invalid");
    expect(page.text).toContain(site.wordpress.address);
    expect(page.text).not.toContain(site.wordpress.address.replace("http:", "https:"));
  }, 60_000);

  test("lets its administrator log in", async () => {
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

  if (multisite === "subdomain") {
    test("sets cookies that browsers accept", async () => {
      const page = await visitorOf(world.serving, site).get("/wp-login.php");
      const { hostname } = new URL(site.wordpress.address);
      expect(page.headers["set-cookie"]).toContain(`domain=.${hostname};`);
    });
  }
});

describe("a site without a password", () => {
  const titles: readonly (readonly [title: string, html: string])[] = [
    [`"><script>alert(1)</script>`, "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"],
    ["Fish &amp; Chips & Co", "Fish &amp;amp; Chips &amp; Co"],
    [`It's "quoted"`, "It&#039;s &quot;quoted&quot;"],
    ["'; DROP TABLE wp_options; --", "&#039;; DROP TABLE wp_options;"],
    ["Garten 🦄 مرحبا \u202eabc", "Garten 🦄 مرحبا \u202eabc"],
    ["Placeholdertitle placeholderuser placeholder.invalid", "Placeholdertitle placeholderuser placeholder.invalid"],
    ['$1 $& \\0 %s a:1:{s:1:"x";}', "$1 $&amp; \\0 %s a:1:{s:1:&quot;x&quot;;}"],
  ];
  let site: Site;
  beforeAll(async () => {
    site = await world.site({ title: titles.map(([title]) => title).join(" | "), adminPasswordDigest: null });
  }, 120_000);

  /** Runs code for each of these values, `$value`, in WordPress. Returns whether the result was true. */
  async function holds(values: readonly unknown[], code: string): Promise<readonly boolean[]> {
    const list = Buffer.from(JSON.stringify(values)).toString("base64");
    const all = `array_map(function ($value) { ${code} }, json_decode(base64_decode('${list}')))`;
    return JSON.parse(await runPhp(world.serving, site, `require 'wp-load.php'; echo json_encode(${all});`));
  }

  test("shows a title exactly as it was entered", async () => {
    const page = await visitorOf(world.serving, site).get("/");
    const shown = page.text.slice(page.text.indexOf("<title>"), page.text.indexOf("</title>"));
    for (const [, html] of titles) expect(shown).toContain(html);
    expect(shown.startsWith(`<title>${titles[0]?.[1]}`)).toBe(true);
    expect(page.text).not.toContain("<script>alert");
  });

  test("lets no one log in before one is set, and then only with the first one", async () => {
    const logIn = (...passwords: readonly string[]) =>
      holds(passwords, "return wp_authenticate('admin', wp_slash($value)) instanceof WP_User;");
    expect(await logIn("", "*", "first")).toEqual([false, false, false]);
    for (const password of ["first", "second"]) {
      await world.runtime.setAdminPassword(site.environment, passwordDigest(password));
    }
    expect(await logIn("second", "first")).toEqual([false, true]);
  });

  test("accepts a password whatever characters it contains", async () => {
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
    const hashes = passwords.map(async (password) => [password, await hashPassword(passwordDigest(password))]);
    // As the login form passes passwords on: with slashes, and without blanks at the ends.
    const code = "return wp_check_password(trim(wp_slash($value[0])), $value[1]);";
    expect(await holds(await Promise.all(hashes), code)).toEqual(passwords.map(() => true));
  });

  test.each(["8.1", "8.2", "8.4", "8.5"])("shows its front page with PHP %s", async (phpVersion) => {
    await world.serving.setEnvironments([{ ...(await servedAs(world, site)), phpVersion }]);
    const page = await visitorOf(world.serving, site).get("/");
    expect(page.status).toBe(200);
    expect(page.text).toContain(titles[0]?.[1]);
  });
});

test.each(["", "two  spaces", " x", "a'b", "ö", "x".repeat(61), "<b>"])(
  "an administrator can't have the name %j",
  async (adminUser) => {
    const spec = exampleSpec({ adminUser });
    await expect(world.runtime.provision(spec)).rejects.toThrow(RuntimeFailure);
    expect(await readdir(world.environments)).not.toContain(spec.environment.id);
  },
);
