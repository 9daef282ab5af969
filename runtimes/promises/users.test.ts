import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MultisiteKind } from "../runtime.ts";
import { runTask } from "../testing/runTask.ts";
import { runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
let site: Site;

beforeAll(async () => {
  world = await openWorld({ maxWorkers: 4 });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());

const find = (email: string, of = site) => world.runtime.findUser(of.environment, email);
const userOf = async (email: string, of = site) => (await find(email, of))?.user ?? null;

async function create(email: string, names: Partial<Record<"firstName" | "lastName", string>> = {}, of = site) {
  const input = { email, firstName: "", lastName: "", ...names };
  return runTask(world.serving, of, "createUser", input, { deadlineSeconds: 50 });
}

/** Evaluates a PHP expression in the site's WordPress. Returns the value. */
async function wordpress(code: string, of = site): Promise<unknown> {
  return JSON.parse(await runPhp(world.serving, of, `require '/site/wp-load.php'; echo json_encode(${code});`));
}

function open(of: Site): DatabaseSync {
  return new DatabaseSync(path.join(of.documentRoot, "..", "database", "wordpress.sqlite"));
}

describe("finding a user", () => {
  test("finds the first administrator, regardless of case", async () => {
    const user = { id: 1, login: "admin", isAdministrator: true };
    for (const email of ["admin@example.com", "ADMIN@Example.COM"]) expect(await userOf(email)).toEqual(user);
    expect(await find("unknown@example.com")).toEqual({ user: null });
  });

  test("compares addresses exactly, not as patterns", async () => {
    for (const email of ["%@example.com", "admin@example_com", "' OR '1'='1", "admin@example.com ", ""]) {
      expect(await find(email)).toEqual({ user: null });
    }
  });

  test("reports users with other roles as not administrators", async () => {
    await wordpress(
      "wp_insert_user(['user_login' => 'ed', 'user_email' => 'ed@example.com', 'role' => 'editor', 'user_pass' => 'x'])",
    );
    expect(await userOf("ed@example.com")).toMatchObject({ login: "ed", isAdministrator: false });
  });

  test("works during a write and does not disturb it", async () => {
    const database = open(site);
    database.exec(
      "BEGIN IMMEDIATE; UPDATE wp_options SET option_value = 'changed' WHERE option_name = 'blogdescription'",
    );
    try {
      expect(await userOf("admin@example.com")).toMatchObject({ id: 1 });
    } finally {
      database.exec("COMMIT");
      database.close();
    }
  });

  test("returns null for a missing environment", async () => {
    expect(
      await world.runtime.findUser({ id: "00000000-0000-0000-0000-000000000000", number: 9 }, "a@b.cc"),
    ).toBeNull();
  });
});

describe("creating an administrator", () => {
  test("runs WordPress's hooks, sends no mail and sets a random password", async () => {
    await runPhp(
      world.serving,
      site,
      `mkdir('/site/wp-content/mu-plugins'); file_put_contents('/site/wp-content/mu-plugins/watch.php', '<?php
        add_action("user_register", function ($id) { update_option("watched", $id); });
        add_filter("pre_wp_mail", function () { update_option("mailed", 1); return true; });');`,
    );
    const made = await create("grace@example.com", { firstName: "Grace", lastName: "Hopper" });
    expect(made).toMatchObject({ answer: { created: expect.any(Number) }, errors: "" });
    expect(await userOf("grace@example.com")).toMatchObject({ login: "grace", isAdministrator: true });
    expect(await wordpress("[(int) get_option('watched'), get_option('mailed')]")).toEqual([
      Reflect.get(Object(made.answer), "created"),
      false,
    ]);
    expect(await wordpress("get_userdata(get_option('watched'))->user_pass")).toMatch(/^\$wp\$2y\$/);
  });

  test.each([
    [`O'Brien "the" \\`, "Zoë 🦄 \\\\ \\'"],
    ["  spaced  ", ""],
    ["", "Only Last"],
  ])("keeps the names unchanged: %j %j", async (firstName, lastName) => {
    const email = `n${Buffer.from(firstName + lastName)
      .toString("hex")
      .slice(0, 20)}@example.com`;
    const { answer } = await create(email, { firstName, lastName });
    const id = Reflect.get(Object(answer), "created");
    expect(
      await wordpress(`[get_user_meta(${id}, 'first_name', true), get_user_meta(${id}, 'last_name', true)]`),
    ).toEqual([firstName.trim(), lastName.trim()]);
  });

  test.each([
    ["o'hara+news@example.com", "oharanews"],
    ["tom&jerry@example.com", "tomjerry"],
    ["UPPER.Case@Example.COM", "uppercase"],
    ["007@example.com", "user007"],
    ["-_-@example.com", "user"],
    ["ADMIN@elsewhere.example", "admin2"],
    ["admin@third.example", "admin3"],
    [`${"x".repeat(64)}@example.com`, "x".repeat(40)],
  ])("finds %s again, with the login name %s", async (email, login) => {
    expect((await create(email)).answer).toEqual({ created: expect.any(Number) });
    expect(await userOf(email)).toMatchObject({ login, isAdministrator: true });
    expect((await create(email.toUpperCase())).answer).toEqual({ refused: "exists" });
  });

  test("returns WordPress's error if a plugin refuses, and creates no user", async () => {
    const veto = `add_filter("wp_pre_insert_user_data", fn () => []);`;
    await runPhp(world.serving, site, `file_put_contents('/site/wp-content/mu-plugins/veto.php', '<?php ${veto}');`);
    const { answer } = await create("refused@example.com");
    await runPhp(world.serving, site, "unlink('/site/wp-content/mu-plugins/veto.php');");
    expect(answer).toEqual({ failed: expect.stringContaining("Not enough data") });
    expect(await userOf("refused@example.com")).toBeNull();
  });

  test("removes the user again if a plugin takes the role away", async () => {
    const demote = `add_action("user_register", function ($id) { (new WP_User($id))->set_role("subscriber"); });`;
    await runPhp(
      world.serving,
      site,
      `file_put_contents('/site/wp-content/mu-plugins/demote.php', '<?php ${demote}');`,
    );
    const { answer } = await create("demoted@example.com");
    await runPhp(world.serving, site, "unlink('/site/wp-content/mu-plugins/demote.php');");
    expect(answer).toEqual({ failed: expect.stringContaining("prevents new users from becoming administrators") });
    expect(await userOf("demoted@example.com")).toBeNull();
  });
});

/** Follows a login link as a browser, as far as the edge passes it on. */
async function logIn(of: Site, user: { readonly id: number; readonly login: string }) {
  const visitor = visitorOf(world.serving, of);
  const task = { name: "logIn", input: JSON.stringify({ mark: "m", input: { user: user.id, login: user.login } }) };
  const first = await visitor.get("/", { task });
  return { first, visitor };
}

describe("a login", () => {
  test("sets WordPress's cookies and redirects to the dashboard, which opens", async () => {
    const { first, visitor } = await logIn(site, { id: 1, login: "admin" });
    // Without a host: it is the one at which the visitor is.
    expect(first).toMatchObject({ status: 302, headers: { location: "/wp-admin/" } });
    expect(first.headers["cache-control"]).toContain("no-store");
    expect(first.headers["referrer-policy"]).toBe("no-referrer");
    const dashboard = await visitor.get("/wp-admin/");
    expect(dashboard.status).toBe(200);
    expect(dashboard.text).toContain("wpadminbar");
  });

  test.each([
    [
      "redirects everyone to a login page",
      "add_action('init', function () { if (!is_user_logged_in()) { wp_redirect('/members'); exit; } });",
    ],
    [
      "has moved the login page",
      "add_action('plugins_loaded', function () { if (str_contains($_SERVER['REQUEST_URI'], 'wp-login')) { status_header(404); exit; } });",
    ],
    ["prints something", "echo 'Hello'; "],
    ["breaks the front page", "add_action('template_redirect', function () { no_such_function(); });"],
  ])("works if a plugin %s", async (_what, code) => {
    await runPhp(
      world.serving,
      site,
      `file_put_contents('/site/wp-content/mu-plugins/wall.php', base64_decode('${Buffer.from(`<?php ${code}`).toString("base64")}'));`,
    );
    const { first, visitor } = await logIn(site, { id: 1, login: "admin" });
    const dashboard = await visitor.get("/wp-admin/");
    await runPhp(world.serving, site, "unlink('/site/wp-content/mu-plugins/wall.php');");
    expect(first.status).toBe(302);
    expect(dashboard.text).toContain("wpadminbar");
  });

  test("runs the hooks of plugins, with the user logged in", async () => {
    await runPhp(
      world.serving,
      site,
      `file_put_contents('/site/wp-content/mu-plugins/heard.php', '<?php add_action("wp_login", function ($login) { update_option("heard", $login . get_current_user_id()); });');`,
    );
    await logIn(site, { id: 1, login: "admin" });
    expect(await wordpress("get_option('heard')")).toBe("admin1");
  });

  test.each([
    [{ id: 1, login: "another" }, "no longer exists"],
    [{ id: 4711, login: "admin" }, "no longer exists"],
  ])("is refused if the id and login no longer match a user: %j", async (user, sentence) => {
    const { first, visitor } = await logIn(site, user);
    expect(first.status).toBe(403);
    expect(first.text).toContain(sentence);
    expect((await visitor.get("/wp-admin/")).status).toBe(302);
  });

  test("is refused for a user who is no longer an administrator", async () => {
    const ed = await userOf("ed@example.com");
    if (ed === null) throw new Error("Ed is gone");
    expect((await logIn(site, ed)).first).toMatchObject({ status: 403 });
  });
});

describe.each(["subdirectory", "subdomain"] as const)("in a %s network", (multisite: MultisiteKind) => {
  let network: Site;
  beforeAll(async () => {
    network = await world.site({ multisite, address: `http://net-${multisite}.localhost:8081` });
  }, 120_000);

  test("a new administrator is a super administrator and can log in", async () => {
    expect((await create("grace@example.com", {}, network)).answer).toEqual({ created: expect.any(Number) });
    const grace = await userOf("grace@example.com", network);
    expect(grace).toMatchObject({ login: "grace", isAdministrator: true });
    expect(await wordpress("get_super_admins()", network)).toEqual(["admin", "grace"]);
    if (grace === null) throw new Error("Grace is gone");
    const { first, visitor } = await logIn(network, grace);
    expect(first).toMatchObject({ status: 302, headers: { location: `${network.wordpress.address}/wp-admin/` } });
    expect((await visitor.get("/wp-admin/network/")).status).toBe(200);
  });

  test("a super administrator who is not a member of the main site is sent to the network's dashboard", async () => {
    await wordpress(
      "[wpmu_create_user('ada', 'x', 'ada@example.com'), grant_super_admin(get_user_by('login', 'ada')->ID)]",
      network,
    );
    const ada = await userOf("ADA@example.com", network);
    expect(ada).toMatchObject({ login: "ada", isAdministrator: true });
    if (ada === null) throw new Error("Ada is gone");
    const { first, visitor } = await logIn(network, ada);
    expect(first.headers.location).toBe(`${network.wordpress.address}/wp-admin/network/`);
    expect((await visitor.get("/wp-admin/network/")).text).toContain("wpadminbar");
  });

  test("an administrator of only another site of the network is not an administrator of the environment", async () => {
    await wordpress("wpmu_create_user('sub', 'x', 'sub@example.com')", network);
    const database = open(network);
    database.exec(
      `INSERT INTO wp_usermeta (user_id, meta_key, meta_value)
       SELECT ID, 'wp_2_capabilities', 'a:1:{s:13:"administrator";b:1;}' FROM wp_users WHERE user_login = 'sub'`,
    );
    database.close();
    expect(await userOf("sub@example.com", network)).toMatchObject({ isAdministrator: false });
  });

  test("no user is created if wp-config.php defines the super administrators", async () => {
    await runPhp(
      world.serving,
      network,
      `$f = '/site/wp-config.php'; file_put_contents($f, preg_replace('/<\\?php/', "<?php \\$super_admins = ['admin'];", file_get_contents($f), 1));`,
    );
    const { answer } = await create("late@example.com", {}, network);
    expect(answer).toEqual({ failed: expect.stringContaining("administrators") });
    expect(await userOf("late@example.com", network)).toBeNull();
  });
});
