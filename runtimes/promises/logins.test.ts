/** How a real WordPress reports logins to the edge, refuses them when told to, and hides its users' names. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requestBody } from "../testing/requestBody.ts";
import { runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

const adminPassword = "correct horse";

let world: SiteWorld;
let site: Site;

beforeAll(async () => {
  world = await openWorld({ maxWorkers: 2 });
  site = await world.site();
  await runPhp(
    world.serving,
    site,
    `require '/site/wp-load.php';
    wp_set_password('${adminPassword}', 1);
    update_option('permalink_structure', '/%postname%/'); flush_rewrite_rules();
    mkdir('/site/wp-content/mu-plugins');
    file_put_contents('/site/wp-content/mu-plugins/test.php', '<?php
      add_filter("wp_is_application_passwords_available", "__return_true");
      add_action("wp_loaded", function () {
        if (isset($_POST["shop_user"])) wp_signon(["user_login" => $_POST["shop_user"], "user_password" => $_POST["shop_password"]]);
      });');`,
  );
}, 120_000);
afterAll(() => world.close());

const outcomeOf = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
  headers["x-sitewright-login"];
const visitor = () => visitorOf(world.serving, site);
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

function callXmlRpc(body: string, headers: Readonly<Record<string, string>> = {}) {
  const more = { "content-type": "text/xml", "content-length": String(Buffer.byteLength(body)), ...headers };
  return visitor().get("/xmlrpc.php", { method: "POST", headers: more, body: requestBody(Buffer.from(body)) });
}

const value = (text: string) => `<value><string>${text}</string></value>`;
const usersBlogs = (password: string) =>
  `<methodCall><methodName>wp.getUsersBlogs</methodName><params><param>${value("admin")}</param><param>${value(password)}</param></params></methodCall>`;

/** Many passwords in one request. */
function multicall(passwords: readonly string[]): string {
  const calls = passwords.map(
    (password) => `<value><struct>
      <member><name>methodName</name>${value("wp.getUsersBlogs")}</member>
      <member><name>params</name><value><array><data>${value("admin")}${value(password)}</data></array></value></member>
    </struct></value>`,
  );
  const list = `<value><array><data>${calls.join("")}</data></array></value>`;
  return `<methodCall><methodName>system.multicall</methodName><params><param>${list}</param></params></methodCall>`;
}

describe("the outcome of a login is reported", () => {
  test("of the login form", async () => {
    const { adminUser } = site.wordpress;
    const form = (pwd: string) => visitor().post("/wp-login.php", { log: adminUser, pwd, "wp-submit": "Log In" });
    expect(outcomeOf(await form("wrong"))).toBe("failed");
    expect(outcomeOf(await form(adminPassword))).toBe("succeeded");
    expect(outcomeOf(await visitor().get("/wp-login.php"))).toBeUndefined();
    expect(outcomeOf(await visitor().post("/wp-login.php", { log: "", pwd: "" }))).toBeUndefined();
  });

  test("with the user's name, unless the site has no such user: that may be a mistyped password", async () => {
    const { adminUser } = site.wordpress;
    const userOf = async (log: string, pwd: string) =>
      (await visitor().post("/wp-login.php", { log, pwd, "wp-submit": "Log In" })).headers["x-sitewright-login-user"];
    expect(await userOf(adminUser, "wrong")).toBe(encodeURIComponent(adminUser));
    expect(await userOf(adminUser, adminPassword)).toBe(encodeURIComponent(adminUser));
    expect(await userOf(adminPassword, "wrong")).toBeUndefined();
  });

  test("of another form", async () => {
    const { adminUser } = site.wordpress;
    const form = (shop_password: string) => visitor().post("/", { shop_user: adminUser, shop_password });
    expect(outcomeOf(await form("wrong"))).toBe("failed");
    expect(outcomeOf(await form(adminPassword))).toBe("succeeded");
  });

  test("of XML-RPC, alone and many at once", async () => {
    expect(outcomeOf(await callXmlRpc(usersBlogs("wrong")))).toBe("failed");
    expect(outcomeOf(await callXmlRpc(multicall(["one", "two", "three"])))).toBe("failed");
    expect(outcomeOf(await callXmlRpc(multicall(["one", adminPassword])))).toBe("failed");
  });

  test("of application passwords", async () => {
    const made = await runPhp(
      world.serving,
      site,
      `require '/site/wp-load.php'; echo WP_Application_Passwords::create_new_application_password(1, ['name' => 'test'])[0];`,
    );
    const url = "/?rest_route=/wp/v2/users/me";
    const me = (password: string) => visitor().get(url, { headers: basic(site.wordpress.adminUser, password) });
    expect(outcomeOf(await me("wrong"))).toBe("failed");
    const answer = await me(made);
    expect([answer.status, outcomeOf(answer)]).toEqual([200, "succeeded"]);
    const headers = { ...basic(site.wordpress.adminUser, made), "x-sitewright-logins": "refused" };
    expect((await visitor().get(url, { headers })).status).toBe(401);
  });
});

test("logins are refused when the edge says so, even with the right password", async () => {
  const { adminUser } = site.wordpress;
  const refused = { "x-sitewright-logins": "refused" };
  const body = new URLSearchParams({
    log: adminUser,
    pwd: adminPassword,
    shop_user: adminUser,
    shop_password: adminPassword,
  });
  const headers = {
    ...refused,
    "content-type": "application/x-www-form-urlencoded",
    "content-length": String(body.toString().length),
  };
  for (const url of ["/wp-login.php", "/"]) {
    const answer = await visitor().get(url, {
      method: "POST",
      headers,
      body: requestBody(Buffer.from(body.toString())),
    });
    expect([url, outcomeOf(answer)]).toEqual([url, "failed"]);
    expect(answer.headers["set-cookie"] ?? "").not.toContain("wordpress_logged_in");
  }
  expect((await callXmlRpc(usersBlogs(adminPassword), refused)).text).toContain("<int>403</int>");
});

test("the edge may say so when a worker is free", async () => {
  const headers = basic(site.wordpress.adminUser, "wrong");
  const url = "/?rest_route=/wp/v2/users/me";
  expect(outcomeOf(await visitor().get(url, { headers }))).toBe("failed");
  const headersAtStart = () => ({ "x-sitewright-logins": "refused" });
  expect(outcomeOf(await visitor().get(url, { headers, headersAtStart }))).toBeUndefined();
});

describe("user names", () => {
  const listed = async (url: string, of = visitor()) => {
    const { status, text } = await of.get(url);
    return { status, showsName: text.includes(site.wordpress.adminUser) };
  };

  test.each(["/?rest_route=/wp/v2/users", "/?rest_route=/wp/v2/users/1", "/?rest_route=/WP/V2/Users"])(
    "are not listed for visitors by %s",
    async (url) => {
      const { status, showsName } = await listed(url);
      expect([status >= 400, showsName]).toEqual([true, false]);
    },
  );

  test("are not revealed by numbers of authors or by the sitemap", async () => {
    expect((await visitor().get("/?author=1")).status).toBe(404);
    expect((await visitor().get("/?author=1")).headers.location).toBeUndefined();
    expect((await visitor().get("/wp-sitemap-users-1.xml")).status).toBe(404);
    expect((await visitor().get("/wp-sitemap.xml")).text).not.toContain("users");
  });

  test("are listed for the block editor, and author pages work", async () => {
    const { adminUser } = site.wordpress;
    const owner = visitor();
    expect(await owner.logIn(adminUser, adminPassword)).toBe(true);
    const editor = await owner.get("/wp-admin/post-new.php");
    const nonce = /createNonceMiddleware\( "(\w+)" \)/.exec(editor.text)?.[1] ?? "";
    const url = "/?rest_route=/wp/v2/users&context=edit&who=authors";
    const answer = await owner.get(url, { headers: { "x-wp-nonce": nonce } });
    expect([answer.status, answer.text.includes(adminUser)]).toEqual([200, true]);
    expect((await visitor().get(`/author/${adminUser.toLowerCase()}/`)).status).toBe(200);
  });

  test("can be listed if the site wants it", async () => {
    const add = `add_filter("sitewright_list_users", "__return_true");`;
    await runPhp(world.serving, site, `file_put_contents('/site/wp-content/mu-plugins/list.php', '<?php ${add}');`);
    expect(await listed("/?rest_route=/wp/v2/users")).toEqual({ status: 200, showsName: true });
  });
});
