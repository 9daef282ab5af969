import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { type FakeAnswer, FakeNoAnswer, textAnswer } from "../testing/fakeUpstream.ts";
import { ask, putTable } from "../testing/http.ts";
import { makeEnvironment, makeFolder, startEmptyEdge, tableOf, writeFiles } from "../testing/withEdge.ts";
import { browser, html, startCachedSite } from "./testing/cachedSite.ts";

type Site = Awaited<ReturnType<typeof startCachedSite>>;

/** Sends requests until the page is cached: the first response may arrive before that. */
async function warm(site: Site, path: string, headers = {}) {
  await site.meet(path);
  await site.get(path, headers);
  await eventually(async () => expect((await site.get(path, headers)).cache).toBe("HIT"));
}

/** The `X-Cache` header of a response. */
async function stateOf(site: Site, path: string, headers = {}): Promise<string | undefined> {
  return (await site.get(path, headers)).cache;
}

describe("a page", () => {
  test("is rendered once and then served without PHP", async () => {
    const site = await startCachedSite();
    await site.meet("/about/");
    expect(await site.get("/about/")).toMatchObject({ status: 200, cache: "MISS", body: "page 1" });
    await eventually(async () => expect((await site.get("/about/")).cache).toBe("HIT"));
    expect(await site.get("/about/")).toMatchObject({ status: 200, cache: "HIT", body: "page 1" });
    expect(site.asked()).toEqual(["/about/"]);
  });

  test("is also served for HEAD, with its headers but without a body", async () => {
    const site = await startCachedSite();
    await warm(site, "/");
    const got = await site.get("/", {}, { method: "HEAD" });
    expect(got).toMatchObject({ status: 200, cache: "HIT", body: "" });
    expect(got.headers["content-length"]).toBe("6");
  });

  test("differs for mobile devices", async () => {
    const site = await startCachedSite();
    await warm(site, "/");
    const phone = { "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148" };
    expect(await site.get("/", phone)).toMatchObject({ cache: "MISS", body: "page 2" });
    expect(site.upstream.asked.map(({ request }) => /Mobile/.test(String(request.headers["user-agent"])))).toEqual([
      false,
      true,
    ]);
  });

  test("is the same with and without tracking fields", async () => {
    const site = await startCachedSite();
    await warm(site, "/post/");
    expect(await stateOf(site, "/post/?utm_source=news&utm_medium=mail&fbclid=1")).toBe("HIT");
    await site.meet("/post/?paged=2");
    expect(await stateOf(site, "/post/?gclid=x&paged=2")).toBe("MISS");
    expect(site.asked()).toEqual(["/post/?paged=2"]);
  });

  test("has its age and an ETag, by which it is not sent twice", async () => {
    const site = await startCachedSite();
    await warm(site, "/");
    const { headers } = await site.get("/");
    expect(headers.age).toMatch(/^\d+$/);
    const again = await site.get("/", { "if-none-match": headers.etag ?? "" });
    expect(again).toMatchObject({ status: 304, body: "", cache: "HIT" });
    expect(again.headers["content-length"]).toBeUndefined();
    expect(await site.get("/", { "if-none-match": '"other"' })).toMatchObject({ status: 200 });
  });

  test("is compressed in the encoding that the visitor prefers", async () => {
    const site = await startCachedSite();
    const long = `<!doctype html>${"<p>words and words</p>".repeat(500)}`;
    site.respond = () => textAnswer(long, html);
    await warm(site, "/");
    const unpack = { br: brotliDecompressSync, zstd: zstdDecompressSync, gzip: gunzipSync };
    for (const [encoding, open] of Object.entries(unpack)) {
      const asked = { "accept-encoding": encoding };
      await eventually(async () => expect((await site.get("/", asked)).headers["content-encoding"]).toBe(encoding));
      const got = await site.get("/", asked);
      expect(open(got.bytes).toString()).toBe(long);
      expect(got.bytes.length).toBeLessThan(long.length / 10);
      expect(got.headers.vary).toContain("Accept-Encoding");
      expect(await site.get("/", { ...asked, "if-none-match": got.headers.etag ?? "" })).toMatchObject({ status: 304 });
    }
    expect(site.asked()).toHaveLength(1);
  });

  test("is no longer served once there is a file at its URL", async () => {
    const site = await startCachedSite({}, { edge: {} });
    await warm(site, "/robots.txt");
    await writeFile(`${site.root}/robots.txt`, "a file");
    await eventually(async () => expect((await site.get("/robots.txt")).body).toBe("a file"));
  });
});

describe("private responses are not cached", () => {
  test.each([
    ["a logged-in user", { cookie: "wordpress_logged_in_0123=ada%7C1" }],
    ["a visitor who has commented", { cookie: "comment_author_0123=Ada" }],
    ["a visitor who has entered a page's password", { cookie: "wp-postpass_0123=x" }],
    ["a visitor with a full cart", { cookie: "woocommerce_items_in_cart=1" }],
    ["a visitor with a PHP session", { cookie: "_ga=1; PHPSESSID=abc" }],
    ["a visitor with an unknown cookie", { cookie: "currency=EUR" }],
    ["a request with a password", { authorization: "Basic YTpi" }],
    ["a request by a script in the page", { "x-requested-with": "XMLHttpRequest" }],
    ["a client that asks for JSON", { accept: "application/activity+json" }],
    ["a range request", { range: "bytes=0-10" }],
  ])("%s", async (_, headers) => {
    const site = await startCachedSite();
    await warm(site, "/");
    const made = site.asked().length;
    expect(await site.get("/", headers)).toMatchObject({ cache: "BYPASS", body: `page ${made + 1}` });
    expect(await site.get("/", headers)).toMatchObject({ cache: "BYPASS", body: `page ${made + 2}` });
    expect(await site.get("/")).toMatchObject({ cache: "HIT", body: "page 1" });
  });

  test.each([
    "/?s=shoes",
    "/?p=1&preview=true",
    "/post/?replytocom=4",
    "/cart/",
    "/de/checkout/",
    "/my-account/orders/",
    "/wp-json/wp/v2/posts",
    "/?rest_route=/wp/v2/posts",
    "/?add-to-cart=5",
    "/?p=1&p=2",
    "/?anything=else",
    "/?p[]=1",
  ])("at %s", async (path) => {
    const site = await startCachedSite();
    expect(await stateOf(site, path)).toBe("BYPASS");
    expect(await stateOf(site, path)).toBe("BYPASS");
    expect(site.asked()).toEqual([path, path]);
  });

  test("an analytics cookie makes no difference and never reaches PHP", async () => {
    const site = await startCachedSite();
    await site.meet("/");
    await site.get("/", { cookie: "_ga=GA1.1.1; _ga_ABC123=GS1; CookieConsent=yes" });
    await eventually(async () => expect(await stateOf(site, "/")).toBe("HIT"));
    expect(site.upstream.asked[0]?.request.headers.cookie).toBeUndefined();
  });

  test.each([
    ["a cookie", [["Set-Cookie", "cart=1"]]],
    ["no-store", [["Cache-Control", "no-store"]]],
    [
      "WordPress's own headers against caching",
      [["Cache-Control", "no-cache, must-revalidate, max-age=0, no-store, private"]],
    ],
    ["a lifetime of 0", [["Cache-Control", "max-age=0"]]],
    ["a date in the past", [["Expires", "Wed, 11 Jan 1984 05:00:00 GMT"]]],
    ["Pragma", [["Pragma", "no-cache"]]],
    ["Vary: *", [["Vary", "*"]]],
    ["Vary by an unknown header", [["Vary", "X-Country"]]],
    ["an encoding", [["Content-Encoding", "gzip"]]],
  ] as const)("if PHP responds with %s", async (_, headers) => {
    const site = await startCachedSite();
    site.respond = (made) => textAnswer(`page ${made}`, [...html, ...headers]);
    expect(await site.get("/")).toMatchObject({ cache: "MISS", body: "page 1" });
    expect(await site.get("/")).toMatchObject({ cache: "MISS", body: "page 2" });
  });

  test.each([301, 302, 404, 403, 500, 503])("if PHP responds with status %i", async (status) => {
    const site = await startCachedSite();
    site.respond = (made) => textAnswer(`page ${made}`, html, status);
    await site.get("/");
    expect(await site.get("/")).toMatchObject({ status, cache: "MISS", body: "page 2" });
  });

  test("if the site reports at the end that the page is private", async () => {
    const site = await startCachedSite();
    site.respond = (made) => ({ ...textAnswer(`page ${made}`, html), isCacheable: Promise.resolve(false) });
    await site.get("/");
    expect(await site.get("/")).toMatchObject({ cache: "MISS", body: "page 2" });
  });

  test("if the page is cut off", async () => {
    const site = await startCachedSite();
    site.respond = (made) => {
      const body = new PassThrough();
      body.write(`page ${made}`);
      setImmediate(() => body.destroy(new Error("killed")));
      return { status: 200, headers: html, body };
    };
    await expect(site.get("/")).rejects.toThrow();
    site.respond = (made) => textAnswer(`complete ${made}`, html);
    expect(await site.get("/")).toMatchObject({ cache: "MISS", body: "complete 2" });
  });

  test("if the page is too long", async () => {
    const site = await startCachedSite();
    site.respond = () => textAnswer("x".repeat(5 << 20), html);
    await site.get("/");
    expect(await stateOf(site, "/")).toBe("MISS");
  });

  test("if it is a download", async () => {
    const site = await startCachedSite();
    site.respond = () => textAnswer("x", [["Content-Type", "application/zip"]]);
    await site.get("/download/5");
    expect(await stateOf(site, "/download/5")).toBe("MISS");
  });

  test("if the environment has no page cache; there is no X-Cache header then", async () => {
    const site = await startCachedSite();
    const { pageCache: _, ...environment } = site.environment;
    await putTable(site.edge, tableOf(2, [environment], { "site.localhost": "one" }));
    expect(await site.get("/")).toMatchObject({ cache: undefined, body: "page 1" });
    expect(await site.get("/")).toMatchObject({ cache: undefined, body: "page 2" });
  });

  test("if PHP requests its own site", async () => {
    const site = await startCachedSite();
    await warm(site, "/");
    const inside = await ask(site.edge, "/", { headers: browser, php: site.edge.loopbackSocket });
    expect([inside.headers["x-cache"], inside.body]).toEqual(["BYPASS", "page 2"]);
  });
});

describe("cache poisoning", () => {
  test.each([
    ["a header with another host", { "x-forwarded-host": "evil.example" }],
    ["a header with another scheme", { "x-forwarded-proto": "https", "x-forwarded-scheme": "nothttps" }],
    ["a header with another path", { "x-original-url": "/wp-admin/", "x-rewrite-url": "/evil" }],
    ["an unknown header", { "x-evil": "<script>" }],
    ["the user agent", { "user-agent": "<script>alert(1)</script>" }],
    ["the referrer", { referer: "https://evil.example/<script>" }],
    ["a language", { "accept-language": "<script>" }],
    ["an analytics cookie", { cookie: "_ga=<script>" }],
  ])("by %s fails because PHP never gets it", async (_, headers) => {
    const site = await startCachedSite();
    await site.meet("/");
    site.respond = (__, request) => textAnswer(JSON.stringify(request.headers), html);
    const first = await site.get("/", headers);
    expect(first.body).not.toMatch(/evil|script|nothttps/);
    await eventually(async () => expect(await stateOf(site, "/")).toBe("HIT"));
    expect((await site.get("/")).body).not.toMatch(/evil|script|nothttps/);
  });

  test("by the first visitor at an address fails because their page is neither cached nor shared", async () => {
    const site = await startCachedSite();
    const gate = Promise.withResolvers<void>();
    site.respond = async (_, { headers }) => {
      if (headers.referer !== undefined) await gate.promise;
      return textAnswer(`${String(headers.referer)} ${String(headers["user-agent"])}`, html);
    };
    const first = site.get("/", { referer: "https://evil.example/", "user-agent": "<script>" });
    await eventually(() => expect(site.asked()).toHaveLength(1));
    const crowd = Array.from({ length: 20 }, () => site.get("/", { referer: "https://evil.example/" }));
    gate.resolve();
    expect((await first).body).toBe("https://evil.example/ <script>");
    for (const { body } of await Promise.all(crowd)) expect(body).toMatch(/^undefined Mozilla/);
    expect(site.asked()).toHaveLength(2);
    await eventually(async () => expect(await stateOf(site, "/")).toBe("HIT"));
    expect((await site.get("/")).body).toMatch(/^undefined Mozilla/);
  });

  test("by a tracking field fails because PHP never gets it", async () => {
    const site = await startCachedSite();
    await site.meet("/");
    site.respond = (_, request) => textAnswer(request.url, html);
    expect((await site.get("/?utm_source=%22%3E%3Cscript%3E")).body).toBe("/");
  });

  test("by another encoding of a URL affects only that URL", async () => {
    const site = await startCachedSite();
    site.respond = (_, request) => textAnswer(request.url, html);
    await warm(site, "/%61bout/");
    expect((await site.get("/about/")).body).toBe("/about/");
    expect((await site.get("//about/")).body).toBe("//about/");
  });

  test("by another host name affects only that name", async () => {
    const site = await startCachedSite();
    site.respond = (_, request) => textAnswer(`at ${String(request.headers.host)}`, html);
    await putTable(site.edge, tableOf(2, [site.environment], { "site.localhost": "one", "other.localhost": "one" }));
    await warm(site, "/");
    expect((await site.get("/", {}, { host: "other.localhost", headers: browser })).body).toBe("at other.localhost");
    expect((await site.get("/", {}, { host: "SITE.localhost", headers: browser })).body).toBe("at site.localhost");
    expect((await site.get("/", {}, { host: "site.localhost:8080", headers: browser })).body).toBe(
      "at site.localhost:8080",
    );
  });

  test("by the body of a GET request affects only that request", async () => {
    const site = await startCachedSite();
    const withBody = { headers: { ...browser, "content-length": "3" }, body: "a=1" };
    await ask(site.edge, "/", withBody);
    expect(await stateOf(site, "/")).toBe("MISS");
  });
});

describe("a response that is not cached comes from the visitor's own request", () => {
  const own = { referer: "https://partner.example/", "user-agent": "Googlebot/2.1", "accept-language": "de" };
  const isOwn = ({ headers }: { readonly headers: object }) => expect(headers).toMatchObject(own);

  test.each<[string, FakeAnswer]>([
    ["there is no page", textAnswer("gone", html, 404)],
    ["it is a redirect", textAnswer("", [["Location", "/new/"]], 301)],
    ["it is forbidden", textAnswer("no", html, 403)],
    ["it sets a cookie", textAnswer("a", [...html, ["Set-Cookie", "seen=1"]])],
    ["it is a download", textAnswer("a", [["Content-Type", "application/zip"]])],
    ["it must not be stored", textAnswer("a", [...html, ["Cache-Control", "no-store"]])],
    ["it varies by an unknown header", textAnswer("a", [...html, ["Vary", "X-Country"]])],
    ["it is too long", textAnswer("x".repeat(5 << 20), html)],
    ["the site reports so at the end", { ...textAnswer("a", html), isCacheable: Promise.resolve(false) }],
  ])("if %s, which costs one request", async (_, { body, ...answer }) => {
    const site = await startCachedSite();
    const [content] = await body.toArray();
    site.respond = () => ({ ...answer, body: Readable.from([content]) });
    for (const asked of [1, 2, 3]) {
      await site.get("/page/", own);
      expect(site.asked()).toHaveLength(asked);
    }
    for (const { request } of site.upstream.asked) isOwn(request);
  });

  test("if a page is gone that could be cached", async () => {
    const site = await startCachedSite();
    await warm(site, "/post/");
    await site.purge({ everything: true });
    site.respond = (_, { headers }) => textAnswer(`gone for ${String(headers["user-agent"])}`, html, 404);
    expect(await site.get("/post/", own)).toMatchObject({ status: 404, body: "gone for Googlebot/2.1" });
    site.upstream.asked.splice(0);
    expect(await site.get("/post/", own)).toMatchObject({ status: 404, body: "gone for Googlebot/2.1" });
    expect(site.asked()).toHaveLength(1);
  });

  test("and a page that became private is neither cached nor shared", async () => {
    const site = await startCachedSite();
    await warm(site, "/post/");
    await site.purge({ everything: true });
    site.respond = (made, { headers }) =>
      textAnswer(
        `${made} ${String(headers.referer)}`,
        headers.referer === undefined ? [...html, ["Set-Cookie", "a=1"]] : html,
      );
    const visits = ["one", "two", "three"].map((referer) => site.get("/post/", { referer }));
    const bodies = (await Promise.all(visits)).map(({ body }) => body.replace(/^\d+ /, ""));
    // Once an address is known as cacheable again, a neutral request may follow.
    for (const [at, referer] of ["one", "two", "three"].entries()) expect([referer, "undefined"]).toContain(bodies[at]);
    site.respond = (made) => textAnswer(`neutral ${made}`, html);
    expect((await site.get("/post/")).body).toMatch(/^neutral/);
  });

  test("for HEAD, too", async () => {
    const site = await startCachedSite();
    site.respond = () => textAnswer("gone", html, 404);
    expect(await site.get("/gone/", own, { method: "HEAD" })).toMatchObject({ status: 404, body: "" });
    expect(site.upstream.asked[0]?.request.method).toBe("HEAD");
  });

  test("for each visitor of a crowd at once, not one after the other", async () => {
    const site = await startCachedSite();
    const [first, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    site.respond = async (made, { url, headers }) => {
      if (url === "/gone/") await (made === 1 ? first.promise : others.promise);
      return textAnswer(`gone for ${String(headers.referer)}`, html, 404);
    };
    const visits = Array.from({ length: 20 }, (_, at) => site.get("/gone/", { referer: `https://${at}.example/` }));
    await eventually(() => expect(site.asked()).toHaveLength(1));
    // They have arrived once later connections are answered.
    for (let at = 0; at < 5; at += 1) await site.get("/other/");
    first.resolve();
    await eventually(() => expect(site.asked().filter((url) => url === "/gone/")).toHaveLength(20));
    others.resolve();
    const bodies = (await Promise.all(visits)).map(({ body }) => body);
    expect(bodies).toEqual(visits.map((_, at) => `gone for https://${at}.example/`));
  });

  test("and if PHP fails, those who wait fail with the first", async () => {
    const site = await startCachedSite();
    const gate = Promise.withResolvers<void>();
    site.respond = async (_, { url }) => {
      if (url === "/other/") return textAnswer("other", html);
      await gate.promise;
      throw new FakeNoAnswer("crashed");
    };
    const first = site.get("/", own);
    await eventually(() => expect(site.asked()).toHaveLength(1));
    const crowd = Array.from({ length: 20 }, () => site.get("/", own));
    // They have arrived once later connections are answered.
    for (let at = 0; at < 5; at += 1) await site.get("/other/");
    gate.resolve();
    for (const { status } of await Promise.all([first, ...crowd])) expect(status).toBeGreaterThanOrEqual(500);
    expect(site.asked().filter((url) => url === "/").length).toBeLessThan(20);
  });
});

describe("a page that varies by language", () => {
  test("is in the language of its first visitor", async () => {
    const site = await startCachedSite();
    await site.meet("/");
    site.respond = (_, { headers }) =>
      textAnswer(String(headers["accept-language"] ?? "none"), [...html, ["Vary", "Accept-Language"]]);
    expect((await site.get("/", { "accept-language": "de" })).body).toBe("de");
    expect((await site.get("/", { "accept-language": "fr" })).body).toBe("fr");
  });

  test("is cached for each language once a response has said so", async () => {
    const site = await startCachedSite();
    site.respond = (made, request) =>
      textAnswer(`${String(request.headers["accept-language"] ?? "none")} ${made}`, [
        ...html,
        ["Vary", "Accept-Language"],
      ]);
    await site.get("/", { "accept-language": "de" });
    expect((await site.get("/", { "accept-language": "de" })).body).toBe("de 2");
    expect((await site.get("/", { "accept-language": "fr, en;q=0.5" })).body).toBe("fr,en;q=0.5 3");
    await eventually(async () => expect((await site.get("/", { "accept-language": "de" })).cache).toBe("HIT"));
    expect(await site.get("/", { "accept-language": "DE" })).toMatchObject({ cache: "HIT", body: "de 2" });
    expect(await site.get("/", { "accept-language": "fr,en;q=0.5" })).toMatchObject({
      cache: "HIT",
      body: "fr,en;q=0.5 3",
    });
  });
});

describe("a purge of", () => {
  const paths = ["/", "/?paged=2", "/news/", "/news/one/", "/news/one/?page=2", "/caf%c3%a9/", "/?p=5", "/?p=6"];

  async function startFilled() {
    const site = await startCachedSite();
    for (const path of paths) await warm(site, path);
    return site;
  }

  async function gone(site: Site): Promise<string[]> {
    const states = await Promise.all(paths.map((path) => site.get(path)));
    return paths.filter((_, at) => states[at]?.cache !== "HIT");
  }

  test.each([
    ["a page includes its parts", { urls: ["http://site.localhost/news/one/"] }, ["/news/one/", "/news/one/?page=2"]],
    ["a page without its trailing slash", { urls: ["/news/one"] }, ["/news/one/", "/news/one/?page=2"]],
    ["a page by its id", { urls: ["https://any.example:8443/?p=5"] }, ["/?p=5"]],
    ["a subtree", { subtrees: ["http://site.localhost/news/"] }, ["/news/", "/news/one/", "/news/one/?page=2"]],
    ["a page in another encoding", { urls: ["/caf%C3%A9/"] }, ["/caf%c3%a9/"]],
    ["everything", { everything: true }, paths],
    ["an invalid URL clears everything", { urls: ["/%zz"] }, paths],
    ["nothing", {}, []],
    ["a page that is not cached", { urls: ["/other/"] }, []],
  ])("%s", async (_, order, expected) => {
    const site = await startFilled();
    const { status, body } = await site.purge(order);
    expect([status, JSON.parse(body)]).toEqual([200, { removed: expected.length }]);
    expect(await gone(site)).toEqual(expected);
  });

  test("what has changed clears the pages that show it, and pages of which that is not known", async () => {
    const site = await startCachedSite();
    const shown = new Map([
      ["/post/", ["#5", "#12"]],
      ["/news/", ["post", "#5"]],
      ["/shop/", ["product"]],
      ["/about/", []],
      ["/odd/", null],
    ]);
    site.respond = (_, { url }) => ({ ...textAnswer(url, html), tags: Promise.resolve(shown.get(url) ?? null) });
    const stale = async (tags: readonly string[]) => {
      for (const url of shown.keys()) await warm(site, url);
      await site.purge({ tags });
      const states = await Promise.all([...shown.keys()].map((url) => stateOf(site, url)));
      return [...shown.keys()].filter((__, at) => states[at] !== "HIT");
    };
    expect(await stale(["#5"])).toEqual(["/post/", "/news/", "/odd/"]);
    expect(await stale(["post", "#1"])).toEqual(["/news/", "/odd/"]);
    expect(await stale(["#2", "pro"])).toEqual(["/odd/"]);
    expect(await stale([])).toEqual([]);
  });

  test("what has changed keeps pages out of the cache that are being rendered", async () => {
    const site = await startCachedSite();
    await site.meet("/news/");
    const gate = Promise.withResolvers<void>();
    site.respond = async (made) => {
      if (made === 1) await gate.promise;
      return textAnswer(`page ${made}`, html);
    };
    const old = site.get("/news/");
    await eventually(() => expect(site.asked()).toHaveLength(1));
    site.edge.purge("one", { urls: [], subtrees: [], tags: ["#5"], everything: false });
    gate.resolve();
    expect((await old).body).toBe("page 1");
    expect(await site.get("/news/")).toMatchObject({ cache: "MISS", body: "page 2" });
  });

  test("a page that a change names is kept from its first visit, and a missing one is not", async () => {
    const site = await startCachedSite();
    await site.purge({ urls: ["http://site.localhost/published/", "/caf%C3%A9/", "/deleted/"] });
    for (const url of ["/published/", "/caf%C3%A9/"]) {
      expect((await site.get(url)).cache).toBe("MISS");
      expect((await site.get(url)).cache).toBe("HIT");
    }
    site.respond = () => ({ ...textAnswer("gone", html), status: 404 });
    for (let count = 0; count < 2; count += 1) expect((await site.get("/deleted/")).cache).toBe("MISS");
  });

  test("a page that is being rendered keeps later visitors from sharing it", async () => {
    const site = await startCachedSite();
    await site.meet("/news/");
    const gate = Promise.withResolvers<void>();
    site.respond = async (made) => {
      if (made === 1) await gate.promise;
      return textAnswer(`page ${made}`, html);
    };
    const old = site.get("/news/");
    await eventually(() => expect(site.asked()).toHaveLength(1));
    site.edge.purge("one", { urls: [], subtrees: [], tags: [], everything: true });
    expect((await site.get("/news/")).body).toBe("page 2");
    gate.resolve();
    expect((await old).body).toBe("page 1");
    await eventually(async () => expect(await site.get("/news/")).toMatchObject({ cache: "HIT", body: "page 2" }));
  });

  test("one site does not affect others", async () => {
    const site = await startFilled();
    await site.purge({ environmentId: "two", everything: true });
    expect(await gone(site)).toEqual([]);
  });

  test("a page that is being rendered keeps it out of the cache", async () => {
    const site = await startCachedSite();
    const gate = Promise.withResolvers<void>();
    site.respond = async (made) => {
      if (made === 1) await gate.promise;
      return textAnswer(`page ${made}`, html);
    };
    const old = site.get("/news/");
    await eventually(() => expect(site.asked()).toHaveLength(1));
    site.edge.purge("one", { urls: ["/news/"], subtrees: [], tags: [], everything: false });
    gate.resolve();
    expect((await old).body).toBe("page 1");
    expect(await site.get("/news/")).toMatchObject({ cache: "MISS", body: "page 2" });
  });

  test("all pages happens with a new release, new PHP processes or a new epoch", async () => {
    const site = await startCachedSite();
    const changes = [
      { release: 2 },
      { release: 2, phpRestarts: 1 },
      { release: 2, phpRestarts: 1, pageCache: { epoch: 2 } },
    ];
    for (const [at, change] of changes.entries()) {
      await warm(site, "/");
      await putTable(site.edge, tableOf(at + 2, [{ ...site.environment, ...change }], { "site.localhost": "one" }));
      expect(await stateOf(site, "/")).toBe("MISS");
    }
  });

  test.each([
    ["{}"],
    ['{"environmentId":1}'],
    ['{"environmentId":"one","urls":"x"}'],
    ['{"environmentId":"one","urls":[1]}'],
    ["["],
  ])("something invalid is refused: %s", async (body) => {
    const site = await startCachedSite();
    const got = await ask(site.edge, "/cache/purge", { socketPath: site.edge.adminSocket, method: "POST", body });
    expect(got.status).toBe(400);
  });
});

describe("a page that is too old", () => {
  const minute = 60_000;

  /** Starts with a cached page at `/`. */
  async function startOld() {
    let time = Date.now();
    const site = await startCachedSite({}, { edge: { pages: { memoryBytes: 10 << 20, now: () => time } } });
    const answer = (respond: Site["respond"]) => {
      site.respond = respond;
    };
    const later = (milliseconds: number) => {
      time += milliseconds;
    };
    answer(() => textAnswer("old", html));
    await warm(site, "/");
    return { site, later, answer };
  }

  test("is served at once and refreshed in the background by one request", async () => {
    const { site, later, answer } = await startOld();
    const gate = Promise.withResolvers<void>();
    answer(async () => {
      await gate.promise;
      return textAnswer("new", html);
    });
    later(90 * minute);
    const crowd = await Promise.all(Array.from({ length: 200 }, () => site.get("/")));
    expect(new Set(crowd.map(({ cache, body }) => `${cache} ${body}`))).toEqual(new Set(["STALE old"]));
    gate.resolve();
    await eventually(async () => expect(await site.get("/")).toMatchObject({ cache: "HIT", body: "new" }));
    expect(site.asked()).toHaveLength(2);
  });

  test("is kept if the refresh fails, which is retried after a pause", async () => {
    const { site, later, answer } = await startOld();
    answer(() => textAnswer("error", html, 500));
    later(90 * minute);
    for (let asked = 0; asked < 5; asked += 1) {
      expect(await site.get("/")).toMatchObject({ cache: "STALE", body: "old" });
    }
    await eventually(() => expect(site.asked()).toHaveLength(2));
    answer(() => textAnswer("new", html));
    later(minute);
    expect((await site.get("/")).cache).toBe("STALE");
    await eventually(async () => expect((await site.get("/")).body).toBe("new"));
  });

  test("is rendered while visitors wait if its forms would no longer work; a crowd costs one request", async () => {
    const { site, later, answer } = await startOld();
    const gate = Promise.withResolvers<void>();
    answer(async () => {
      await gate.promise;
      return textAnswer("new", html);
    });
    later(11 * 60 * minute);
    const crowd = Array.from({ length: 200 }, () => site.get("/"));
    await eventually(() => expect(site.asked()).toHaveLength(2));
    gate.resolve();
    expect(new Set((await Promise.all(crowd)).map(({ body }) => body))).toEqual(new Set(["new"]));
    expect(site.asked()).toHaveLength(2);
  });

  const fails = (reason: string) => () => {
    throw new FakeNoAnswer(reason);
  };

  test.each<[string, Site["respond"]]>([
    ["responds with an error", () => textAnswer("error", html, 503)],
    ["crashes", fails("crashed")],
    ["is too busy", fails("busy")],
  ])("is served for a day if PHP %s", async (_, respond) => {
    const { site, later, answer } = await startOld();
    answer(respond);
    later(11 * 60 * minute);
    expect(await site.get("/")).toMatchObject({ status: 200, cache: "STALE", body: "old" });
    later(14 * 60 * minute);
    expect((await site.get("/")).status).toBeGreaterThanOrEqual(500);
  });

  test("is no longer served once PHP has responded that it is gone", async () => {
    const { site, later, answer } = await startOld();
    answer(() => textAnswer("gone", html, 404));
    later(90 * minute);
    expect((await site.get("/")).body).toBe("old");
    await eventually(async () => expect((await site.get("/")).status).toBe(404));
    answer(() => textAnswer("error", html, 500));
    expect((await site.get("/")).status).toBe(500);
  });

  test("is determined by the lifetime that the site states", async () => {
    const { site, later, answer } = await startOld();
    answer(() => textAnswer("short", [...html, ["Cache-Control", "public, max-age=5, s-maxage=60"]]));
    await warm(site, "/short/");
    later(59_000);
    expect((await site.get("/short/")).cache).toBe("HIT");
    later(2_000);
    expect((await site.get("/short/")).cache).toBe("MISS");
  });

  test("is served but not refreshed while the site is frozen", async () => {
    const { site, later } = await startOld();
    const frozen = { ...site.environment, isFrozen: true };
    await putTable(site.edge, tableOf(2, [frozen], { "site.localhost": "one" }));
    later(90 * minute);
    expect(await site.get("/")).toMatchObject({ cache: "STALE", body: "old" });
    expect(site.asked()).toHaveLength(1);
  });
});

test.each([
  ["queries", (at: number) => [`/0/?lang=${at}`, {}] as const],
  ["comment pages", (at: number) => [`/0/?cpage=${at}`, {}] as const],
  ["ports", (at: number) => ["/0/", { host: `site.localhost:${at + 1}` }] as const],
])("made-up %s don't push out a site's pages, even if each is requested twice", async (_, variant) => {
  const site = await startCachedSite({}, { edge: { pages: { memoryBytes: 1 << 20 } } });
  site.respond = (_made, { url }) => textAnswer(`${url} ${"x".repeat(100_000)}`, html);
  for (const path of ["/0/", "/1/", "/2/"]) await warm(site, path);
  for (let at = 0; at < 10; at += 1) {
    const [path, more] = variant(at);
    expect((await site.get(path, {}, more)).cache).toBe("MISS");
    await eventually(async () => expect((await site.get(path, {}, more)).cache).toBe("HIT"));
  }
  for (const path of ["/0/", "/1/", "/2/"]) expect(await stateOf(site, path)).toBe("HIT");
});

test("one company's pages don't push out another's, in memory and on disk", async () => {
  const folder = await makeFolder();
  const disk = { folder: path.join(folder, "pages"), bytes: 1 << 20 };
  const root = path.join(folder, "site");
  await writeFiles(root, { "index.php": "<?php" });
  const { edge, upstream } = await startEmptyEdge({ pages: { memoryBytes: 1 << 20, disk } });
  const cached = { wordpressVersion: "7.1.1", pageCache: { epoch: 1 } };
  const environment = (id: string, number: number, companyId: string) =>
    makeEnvironment(root, { ...cached, id, number, companyId });
  const environments = [environment("a1", 1, "a"), environment("a2", 2, "a"), environment("v", 3, "v")];
  const hosts = { "a1.localhost": "a1", "a2.localhost": "a2", "v.localhost": "v" };
  await putTable(edge, tableOf(1, environments, hosts));
  upstream.answer = (_, id) => textAnswer("x".repeat(id === "v" ? 40_000 : 200_000), html);
  const visit = async (host: string, url: string) =>
    (await ask(edge, url, { host, headers: browser })).headers["x-cache"];
  for (let at = 0; at < 5; at += 1) {
    await visit("v.localhost", `/${at}/`);
    await eventually(async () => expect(await visit("v.localhost", `/${at}/`)).toBe("HIT"));
  }
  for (let at = 0; at < 20; at += 1) for (const host of ["a1.localhost", "a2.localhost"]) await visit(host, `/${at}/`);
  upstream.asked.splice(0);
  for (let at = 0; at < 5; at += 1) expect(await visit("v.localhost", `/${at}/`)).toBe("HIT");
  const files = async () => (await readdir(path.join(disk.folder, "v"))).length;
  await eventually(async () => expect(await files()).toBe(5));
  expect(upstream.asked).toEqual([]);
});

test.each([
  ["a logged-in user, who may change something by a link", { cookie: "_ga=1; wordpress_logged_in_0123=ada" }, true],
  ["a visitor", { cookie: "currency=EUR" }, false],
])("whether cached pages outlive a crash during a request of %s", async (_, headers, isMarked) => {
  const folder = path.join(await makeFolder(), "pages");
  const site = await startCachedSite(
    {},
    { edge: { pages: { memoryBytes: 1 << 20, disk: { folder, bytes: 1 << 20 } } } },
  );
  const marker = path.join(folder, "one", "writing");
  site.respond = () => {
    expect(existsSync(marker)).toBe(isMarked);
    return textAnswer("page", html);
  };
  expect(await site.get("/?action=delete", headers)).toMatchObject({ status: 200, cache: "BYPASS" });
  await eventually(() => expect(existsSync(marker)).toBe(false));
});

test("memory is limited, and pages that were requested long ago are removed", async () => {
  const site = await startCachedSite({}, { edge: { pages: { memoryBytes: 1 << 20 } } });
  site.respond = (_, { url }) => textAnswer(`${url} ${randomBytes(50_000).toString("hex")}`, html);
  await warm(site, "/first/");
  for (let at = 0; at < 10; at += 1) await warm(site, `/${at}/`);
  expect(await stateOf(site, "/9/")).toBe("HIT");
  expect(await stateOf(site, "/first/")).toBe("MISS");
});
