/** End-to-end tests of the page cache: what visitors see when the site changes, and that private pages stay private. */
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { send } from "./http.ts";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { kill } from "./processes.ts";
import { type CreatedSite, createSite, followOperation } from "./sites.ts";
import { until } from "./until.ts";

let home: TestFolder;
let installation: Installation;
let browser: Browser;
let site: CreatedSite;
let editor: Page;

/** A typical shop: a cart stored in cookies and shown on every page, and a page that must not be cached. */
const shop = `<?php
add_action('init', function () {
  if (isset($_GET['add-to-cart'])) {
    setcookie('woocommerce_items_in_cart', '1', 0, '/');
    setcookie('wp_woocommerce_session_1', $_GET['add-to-cart'], 0, '/');
  }
});
add_action('wp_footer', function () {
  $cart = $_GET['add-to-cart'] ?? $_COOKIE['wp_woocommerce_session_1'] ?? 'nothing';
  echo '<p class="cart">Cart: ' . esc_html($cart) . '</p>';
});
add_action('template_redirect', function () {
  if (str_starts_with($_SERVER['REQUEST_URI'], '/secret-page')) define('DONOTCACHEPAGE', true);
});
`;

beforeAll(async () => {
  home = await createFolder();
  installation = await startHere(home.folder);
  browser = await launchBrowser();
  site = await createSite(installation, { display_name: "Harbour" });
  const release = await realpath(join(installation.data, "environments", site.environmentId, "current"));
  const folder = join(release, "public/wp-content/mu-plugins");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "shop.php"), shop);
  await wp("option update permalink_structure /%postname%/");
  await wp("rewrite flush");
  await wp("post create --post_type=page --post_title=Secret-page --post_status=publish");
  editor = await logIn("owner", "correct horse battery staple");
});

afterAll(async () => {
  await browser?.close();
  await installation?.stop();
  await home?.remove();
});

async function operation(method: string, path: string, body: object): Promise<void> {
  const answer = await installation.api(method, path, body);
  expect(answer.status, answer.text).toBe(202);
  const ended = await followOperation(installation, answer.json<{ operation_id: string }>().operation_id);
  expect(ended.status, JSON.stringify(ended)).toBe(200);
}

const wp = (command: string) =>
  operation("POST", `/sites/environments/${site.environmentId}/run-wp-cli-command`, { argv: command.split(" ") });

async function logIn(user: string, password: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${site.address}/wp-login.php`);
  await page.fill("#user_login", user);
  await page.fill("#user_pass", password);
  await page.click("#wp-submit");
  await page.waitForURL(/\/wp-admin\//);
  return page;
}

/** Calls WordPress's REST API as the user who is logged in on the page. */
async function rest(page: Page, method: string, path: string, body: object): Promise<Record<string, unknown>> {
  return page.evaluate(
    async ([verb, route, content]) => {
      const nonce = await (await fetch("/wp-admin/admin-ajax.php?action=rest-nonce")).text();
      const headers = { "content-type": "application/json", "x-wp-nonce": nonce };
      const response = await fetch(`/wp-json/wp/v2/${route}`, { method: verb ?? "GET", headers, body: content ?? "" });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      const created: Record<string, unknown> = JSON.parse(await response.text());
      return created;
    },
    [method, path, JSON.stringify(body)],
  );
}

const visit = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  send("GET", `${site.address}${path}`, { headers });

/** Requests the page until it is served from the cache. */
async function warm(path: string): Promise<void> {
  await until(async () => expect((await visit(path)).headers["x-cache"]).toBe("HIT"), {
    deadlineSeconds: 60,
    intervalMilliseconds: 20,
  });
}

test("WordPress's Site Health calls a new site good", async () => {
  await editor.goto(`${site.address}/wp-admin/site-health.php`);
  await editor.locator(".site-health-progress-wrapper:not(.loading)").waitFor();
  const critical = editor.locator("#health-check-issues-critical .health-check-accordion-trigger");
  expect(await critical.allInnerTexts()).toEqual([]);
  expect(await editor.locator(".site-health-progress-label").innerText()).toBe("Good");
});

describe("a cached page", () => {
  test("is served without PHP, and shows a new post at once", async () => {
    await warm("/");
    await rest(editor, "POST", "posts", { title: "Fresh fish today", status: "publish" });
    expect((await visit("/")).text).toContain("Fresh fish today");
    await warm("/");
    expect((await visit("/")).text).toContain("Fresh fish today");
  });

  test("is updated at once when its post is edited or unpublished, and other posts stay cached", async () => {
    const { id } = await rest(editor, "POST", "posts", { title: "Cod", content: "Two euros", status: "publish" });
    await Promise.all(["/cod/", "/hello-world/", "/sample-page/"].map(warm));
    await rest(editor, "POST", `posts/${id}`, { content: "Three euros" });
    expect((await visit("/cod/")).text).toContain("Three euros");
    expect((await visit("/sample-page/")).headers["x-cache"]).toBe("HIT");
    await warm("/cod/");
    await rest(editor, "POST", `posts/${id}`, { status: "draft" });
    expect((await visit("/cod/")).status).toBe(404);
  });

  test("shows a changed site title on every page", async () => {
    await warm("/sample-page/");
    await rest(editor, "POST", "settings", { title: "Harbour and Sons" });
    expect((await visit("/sample-page/")).text).toContain("Harbour and Sons");
  });

  test("is cleared by the API: for one address and for all", async () => {
    await Promise.all(["/", "/sample-page/"].map(warm));
    const environment_id = site.environmentId;
    await operation("POST", "/sites/edge-caching/clear", { environment_id, url: `${site.address}/sample-page/` });
    expect((await visit("/sample-page/")).headers["x-cache"]).toBe("MISS");
    expect((await visit("/")).headers["x-cache"]).toBe("HIT");
    await operation("POST", "/sites/tools/clear-cache", { environment_id });
    expect((await visit("/")).headers["x-cache"]).toBe("MISS");
  });

  test("is up to date after a WP-CLI command", async () => {
    await warm("/sample-page/");
    await wp("post update 2 --post_title=Anchors");
    expect((await visit("/sample-page/")).text).toContain("Anchors");
  });

  test("is served again after a kill of the edge, before PHP is ready", async () => {
    await warm("/sample-page/");
    await kill(installation.supervisor.pid ?? 0, "edge");
    const back = await until(() => visit("/sample-page/"), { deadlineSeconds: 60, intervalMilliseconds: 20 });
    expect([back.status, back.headers["x-cache"]]).toEqual([200, "HIT"]);
  });

  test("is not served while the cache is switched off", async () => {
    const environment_id = site.environmentId;
    await operation("PUT", "/sites/edge-caching/status", { environment_id, enabled: false });
    await visit("/");
    expect((await visit("/")).headers["x-cache"]).toBeUndefined();
    await operation("PUT", "/sites/edge-caching/status", { environment_id, enabled: true });
    await warm("/");
  });
});

describe("content for one visitor", () => {
  const paths = [
    "/",
    "/hello-world/",
    "/sample-page/",
    "/?p=1",
    "/?utm_source=x",
    "/category/uncategorized/",
    "/feed/",
  ];

  test("is never shown to others: two logged-in users and anonymous visitors take turns", async () => {
    await wp("user create grace grace@example.com --role=administrator --user_pass=harbourharbour");
    const other = await logIn("grace", "harbourharbour");
    const own = async (page: Page, path: string) => {
      const cookies = await page.context().cookies();
      return visit(path, { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; ") });
    };
    for (const path of paths) {
      for (const round of [1, 2]) {
        const [mine, theirs, anonymous] = [await own(editor, path), await own(other, path), await visit(path)];
        const states = [mine, theirs].map(({ headers }) => headers["x-cache"]);
        expect(states, `${path}, round ${round}`).toEqual(["BYPASS", "BYPASS"]);
        // `/?p=1` redirects to the page's address, and a feed shows no user name.
        const isPage = mine.status === 200 && path !== "/feed/";
        if (isPage) expect(mine.text).toMatch(/Howdy[\s\S]*owner/);
        if (isPage) expect(theirs.text).toMatch(/Howdy[\s\S]*grace/);
        expect(theirs.text).not.toMatch(/display-name">owner/);
        expect(anonymous.text).not.toMatch(/Howdy|wpadminbar|_wpnonce/);
      }
    }
  });

  test("includes the cart: others don't see it, and a visitor without a cart sees none", async () => {
    await warm("/sample-page/");
    const carts = ["shoes-of-ada", "hat-of-grace"];
    for (const cart of carts) {
      const added = await visit(`/sample-page/?add-to-cart=${cart}`);
      expect(added.text).toContain(`Cart: ${cart}`);
      const cookie = `woocommerce_items_in_cart=1; wp_woocommerce_session_1=${cart}`;
      for (const path of paths.filter((one) => one !== "/feed/")) {
        const [mine, anonymous] = [await visit(path, { cookie }), await visit(path)];
        if (mine.status === 200) expect(mine.text, path).toContain(`Cart: ${cart}`);
        expect(anonymous.text, path).not.toMatch(/Cart: (?:shoes|hat)/);
      }
    }
  });

  test("is not cached if a plugin marks the page as private", async () => {
    await visit("/secret-page/");
    expect((await visit("/secret-page/")).headers["x-cache"]).toBe("MISS");
  });
});
