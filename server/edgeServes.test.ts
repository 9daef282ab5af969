/** WordPress through the edge, with the real process and the real runtime. */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EdgeEnvironment } from "@sitewright/edge/tables/table.ts";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { ask, openRaw, type Sending, sendRaw, statusOf } from "@sitewright/edge/testing/http.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EdgeChild, type EdgeInstallation, openEdgeInstallation } from "./testing/edgeChild.ts";

let installation: EdgeInstallation;
let edge: EdgeChild;
let site: EdgeEnvironment;
let subdomains: EdgeEnvironment;

beforeAll(async () => {
  installation = await openEdgeInstallation({ SITEWRIGHT_UPLOAD_LIMIT_BYTES: "3000000" });
  edge = await installation.start();
  site = await installation.addSite(edge.port, "demo", { title: `Tom & "Jerry"` });
  subdomains = await installation.addSite(edge.port, "sub", { title: "Sub", multisite: "subdomain" });
});

afterAll(() => installation?.close());

const get = (path: string, sending: Sending = {}) =>
  ask(edge, path, { host: `demo.localhost:${edge.port}`, ...sending });
const put = (name: string, content: string | Buffer) => writeFile(join(site.documentRoot, name), content);

/** Path and query of a site URL from HTML. */
function pathOf(address: string): string {
  const url = new URL(address.replaceAll("&#038;", "&").replaceAll("&amp;", "&"));
  expect(url.host).toBe(`demo.localhost:${edge.port}`);
  return url.pathname + url.search;
}

describe("a site", () => {
  test("serves its complete front page with its title", async () => {
    const page = await get("/");
    expect(page.status).toBe(200);
    expect(page.headers["content-type"]).toBe("text/html; charset=UTF-8");
    expect(page.body).toContain("<title>Tom &amp; &quot;Jerry&quot;</title>");
    expect(page.body.trimEnd()).toMatch(/<\/html>$/);
    expect(page.headers).not.toHaveProperty("x-powered-by");
  });

  test("writes URLs with its own scheme", async () => {
    const page = await get("/");
    expect(page.body).toContain(`http://demo.localhost:${edge.port}/`);
    expect(page.body).not.toContain("https://demo.localhost");
  });

  test("answers HEAD requests without a body", async () => {
    expect(await get("/", { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
  });

  test("serves permalinks, and 404 for unknown ones", async () => {
    const [post] = JSON.parse((await get("/wp-json/wp/v2/posts")).body);
    const permalink = pathOf(post.link);
    expect(permalink).toMatch(/^\/\d{4}\/\d\d\/\d\d\/hello-world\/$/);
    const page = await get(permalink);
    expect(page.status).toBe(200);
    expect(page.body).toContain("Hello world!");
    expect((await get("/2001/01/01/never-written/")).status).toBe(404);
  });

  test("serves the assets of the login page with their types", async () => {
    const login = await get("/wp-login.php");
    expect(login.status).toBe(200);
    const addresses = [...login.body.matchAll(/(?:href|src)=['"](https?:\/\/[^'"]+\.(?:css|js)\b[^'"]*)['"]/g)];
    expect(addresses.length).toBeGreaterThan(5);
    for (const [, address = ""] of addresses) {
      const path = pathOf(address);
      const asset = await get(path);
      expect(asset.status, path).toBe(200);
      expect(asset.headers["content-type"], path).toMatch(
        path.includes(".css") ? /^text\/css/ : /^application\/javascript/,
      );
      expect(asset.headers["cache-control"], path).toBe("public, max-age=31536000, immutable");
    }
  });

  test("redirects visitors of wp-admin to the login page", async () => {
    expect((await get("/wp-admin")).headers.location).toBe("/wp-admin/");
    const admin = await get("/wp-admin/");
    expect(admin.status).toBe(302);
    expect(admin.headers.location).toContain(`http://demo.localhost:${edge.port}/wp-login.php`);
  });

  test("serves files that PHP generates", async () => {
    expect((await get("/robots.txt")).headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect((await get("/wp-sitemap.xml")).headers["content-type"]).toBe("application/xml; charset=UTF-8");
    expect((await get("/feed/")).headers["content-type"]).toBe("application/rss+xml; charset=UTF-8");
  });

  test("serves uploads, and never executes them", async () => {
    await mkdir(join(site.documentRoot, "wp-content/uploads/2026/11"), { recursive: true });
    await put("wp-content/uploads/2026/11/cat.png", "png");
    await put("wp-content/uploads/2026/11/evil.php", "<?php echo 'it'.'-ran';");
    await put("wp-content/uploads/2026/11/index.php", "<?php echo 'it'.'-ran';");
    expect(await get("/wp-content/uploads/2026/11/cat.png")).toMatchObject({ status: 200, body: "png" });
    for (const url of ["evil.php", "evil.php/a", "evil%2ephp", "", "index.php"]) {
      const got = await get(`/wp-content/uploads/2026/11/${url}`);
      expect(got.status, url).toBe(404);
      expect(got.body, url).not.toContain("it-ran");
    }
  });

  test("does not serve secret files", async () => {
    await put("wp-config.php~", "secret");
    for (const url of ["/wp-config.php", "/wp-config.php~", "/.htaccess", "/wp-content/database/.ht.sqlite"]) {
      expect((await get(url)).status, url).toBe(404);
    }
    for (const url of ["/../database/wordpress.sqlite", "/..%2fdatabase/wordpress.sqlite", "/%2e%2e/release.json"]) {
      const raw = await sendRaw(edge, `GET ${url} HTTP/1.1\r\nHost: demo.localhost\r\nConnection: close\r\n\r\n`);
      expect(statusOf(raw), url).toBe(400);
    }
  });

  test("receives uploads unchanged, up to the limit", async () => {
    await put("upload.php", "<?php echo $_SERVER['REQUEST_METHOD'], ' ', md5(file_get_contents('php://input'));");
    const sent = Buffer.alloc(2_000_000, "upload");
    const headers = { "content-type": "application/octet-stream" };
    const got = await get("/upload.php", { method: "POST", body: sent, headers });
    expect(got.body).toBe(`POST ${createHash("md5").update(sent).digest("hex")}`);
    // A form may be a megabyte longer than the files in it.
    const tooLong = Buffer.alloc(3_000_001 + (1 << 20));
    expect((await get("/upload.php", { method: "POST", body: tooLong, headers })).status).toBe(413);
  });

  test("gets the visitor's real address, not a forged one", async () => {
    const wanted = ["REMOTE_ADDR", "HTTP_HOST", "REQUEST_URI", "SCRIPT_NAME", "PATH_INFO", "HTTP_X_FORWARDED_FOR"];
    const keys = wanted.map((key) => `'${key}'`).join(",");
    await put("who.php", `<?php foreach ([${keys}] as $k) $out[$k] = $_SERVER[$k] ?? null; echo json_encode($out);`);
    const got = await get("/who.php/a%20b?c=%2F", {
      headers: { "x-forwarded-for": "1.2.3.4", X_Forwarded_For: "1.2.3.4" },
    });
    expect(JSON.parse(got.body)).toEqual({
      REMOTE_ADDR: "127.0.0.1",
      HTTP_HOST: `demo.localhost:${edge.port}`,
      REQUEST_URI: "/who.php/a%20b?c=%2F",
      SCRIPT_NAME: "/who.php",
      PATH_INFO: "/a b",
      HTTP_X_FORWARDED_FOR: null,
    });
  });

  test("streams output while PHP is still running", async () => {
    await put("slow.php", "<?php echo str_repeat('first ', 2000); flush(); sleep(3); echo 'last';");
    const visitor = openRaw(edge);
    visitor.socket.write("GET /slow.php HTTP/1.1\r\nHost: demo.localhost\r\nConnection: close\r\n\r\n");
    await eventually(() => expect(visitor.received()).toContain("first"));
    expect(visitor.received()).not.toContain("last");
    await eventually(() => expect(visitor.received()).toContain("last"));
  });

  test("can send requests to itself", { timeout: 180_000 }, async () => {
    const call = "wp_remote_get(home_url('/?rest_route=/', 'http'), ['timeout' => 60])";
    await put(
      "self.php",
      `<?php require 'wp-load.php'; $r = ${call}; echo is_wp_error($r) ? $r->get_error_message() : $r['response']['code'];`,
    );
    expect((await get("/self.php")).body).toBe("200");
  });
});

test("a subdirectory network serves shared files below each of its sites", async () => {
  await installation.addSite(edge.port, "net", { title: "Net", multisite: "subdirectory" });
  const host = `net.localhost:${edge.port}`;
  expect((await ask(edge, "/", { host })).body).toContain("<title>Net</title>");
  expect((await ask(edge, "/blog/wp-admin", { host })).headers.location).toBe("/blog/wp-admin/");
  expect((await ask(edge, "/blog/wp-admin/css/login.min.css", { host })).headers["content-type"]).toBe(
    "text/css; charset=utf-8",
  );
  expect((await ask(edge, "/wp-login.php", { host })).status).toBe(200);
});

test("a subdomain network answers at every name below its own", async () => {
  expect((await ask(edge, "/", { host: `sub.localhost:${edge.port}` })).body).toContain("<title>Sub</title>");
  expect((await ask(edge, "/wp-admin/css/login.min.css", { host: `blog.sub.localhost:${edge.port}` })).status).toBe(
    200,
  );
});

test("a removed site is unknown at once, and its worker ends", async () => {
  const host = `sub.localhost:${edge.port}`;
  expect((await ask(edge, "/", { host })).status).toBe(200);
  expect(JSON.stringify((await installation.status()).workers)).toContain(subdomains.id);
  await installation.dropSite(subdomains.id);
  expect((await ask(edge, "/", { host })).status).toBe(404);
  const { workers } = await installation.status();
  expect(JSON.stringify(workers)).not.toContain(subdomains.id);
});
