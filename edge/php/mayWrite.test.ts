import { expect, test } from "vitest";
import { readPath } from "../http/path.ts";
import { isRestRequest, mayWrite } from "./mayWrite.ts";

function pathOf(url: string) {
  const path = readPath(url);
  if (path === null) throw new Error(`${url} is malformed`);
  return path;
}

test.each([
  ["POST", "/", "/index.php"],
  ["PUT", "/", "/index.php"],
  ["DELETE", "/wp-json/wp/v2/posts/1", "/index.php"],
  ["PROPFIND", "/", "/index.php"],
  ["GET", "/wp-admin/post.php?post=1&action=trash&_wpnonce=0123456789", "/wp-admin/post.php"],
  ["GET", "/wp-admin/post.php?action=trash&%5Fwpnonce=0123456789", "/wp-admin/post.php"],
  ["HEAD", "/?_wpnonce=0123456789", "/index.php"],
  ["GET", "/shop/?add-to-cart=42", "/index.php"],
  ["GET", "/?wc-ajax=get_refreshed_fragments", "/index.php"],
  ["GET", "/?doing_wp_cron=1700000000.5", "/index.php"],
  ["GET", "/wp-admin/admin-ajax.php?action=rest-nonce", "/wp-admin/admin-ajax.php"],
  ["GET", "/blog/wp-admin/admin-post.php", "/wp-admin/admin-post.php"],
  ["GET", "/wp-cron.php?doing_wp_cron", "/wp-cron.php"],
  ["GET", "/wp-activate.php?key=0123456789", "/wp-activate.php"],
  ["GET", "/wp-mail.php", "/wp-mail.php"],
  ["GET", "/wp-json/wp/v2/posts/1?_method=DELETE", "/index.php"],
])("%s %s may write", (method, url, script) => {
  expect(mayWrite({ method, headers: {} }, pathOf(url), script)).toBe(true);
});

test("a GET with a method override may write", () => {
  const headers = { "x-http-method-override": "DELETE" };
  expect(mayWrite({ method: "GET", headers }, pathOf("/wp-json/wp/v2/posts/1"), "/index.php")).toBe(true);
});

test.each([
  ["GET", "/", "/index.php"],
  ["HEAD", "/2026/11/hello/", "/index.php"],
  ["OPTIONS", "/wp-json/wp/v2/posts", "/index.php"],
  ["GET", "/wp-admin/", "/wp-admin/index.php"],
  ["GET", "/wp-login.php", "/wp-login.php"],
  ["GET", "/wp-json/wp/v2/posts?per_page=10&_locale=user", "/index.php"],
  ["GET", "/?s=_wpnonce", "/index.php"],
  ["GET", "/?p=1&preview=true&preview_nonce=0123456789", "/index.php"],
])("%s %s only reads", (method, url, script) => {
  expect(mayWrite({ method, headers: {} }, pathOf(url), script)).toBe(false);
});

test.each([
  ["/wp-json/wp/v2/posts/1", true],
  ["/wp-json", true],
  ["/blog/wp-json/wp/v2/posts/1", true],
  ["/index.php?rest_route=/wp/v2/posts/1", true],
  ["/", false],
  ["/a/b/wp-json/", false],
  ["/?s=rest_route", false],
])("%s is a REST request: %s", (url, expected) => {
  expect(isRestRequest(pathOf(url))).toBe(expected);
});
