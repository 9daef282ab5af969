import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { FakeNoAnswer, textAnswer } from "../testing/fakeUpstream.ts";
import { ask, putTable } from "../testing/http.ts";
import { tableOf } from "../testing/withEdge.ts";
import { browser, html, startCachedSite } from "./testing/cachedSite.ts";

type Site = Awaited<ReturnType<typeof startCachedSite>>;

/** Asks until the page is kept: whoever was first may have it before it is. */
async function warm(site: Site, path: string, headers = {}) {
  await site.get(path, headers);
  await eventually(async () => expect((await site.get(path, headers)).cache).toBe("HIT"));
}

/** What is said of where the page is from. */
async function stateOf(site: Site, path: string, headers = {}): Promise<string | undefined> {
  return (await site.get(path, headers)).cache;
}

describe("a page", () => {
  test("is made once, and then answered without PHP", async () => {
    const site = await startCachedSite();
    expect(await site.get("/about/")).toMatchObject({ status: 200, cache: "MISS", body: "page 1" });
    await eventually(async () => expect((await site.get("/about/")).cache).toBe("HIT"));
    expect(await site.get("/about/")).toMatchObject({ status: 200, cache: "HIT", body: "page 1" });
    expect(site.asked()).toEqual(["/about/"]);
  });

  test("is kept for HEAD too, which has its headers and no body", async () => {
    const site = await startCachedSite();
    await warm(site, "/");
    const got = await site.get("/", {}, { method: "HEAD" });
    expect(got).toMatchObject({ status: 200, cache: "HIT", body: "" });
    expect(got.headers["content-length"]).toBe("6");
  });

  test("is another one for telephones", async () => {
    const site = await startCachedSite();
    await warm(site, "/");
    const phone = { "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148" };
    expect(await site.get("/", phone)).toMatchObject({ cache: "MISS", body: "page 2" });
    expect(site.upstream.asked.map(({ request }) => /Mobile/.test(String(request.headers["user-agent"])))).toEqual([
      false,
      true,
    ]);
  });

  test("has one address, however its visitors were sent there", async () => {
    const site = await startCachedSite();
    await warm(site, "/post/");
    expect(await stateOf(site, "/post/?utm_source=news&utm_medium=mail&fbclid=1")).toBe("HIT");
    expect(await stateOf(site, "/post/?gclid=x&paged=2")).toBe("MISS");
    expect(site.asked()).toEqual(["/post/", "/post/?paged=2"]);
  });

  test("says how old it is, and has a validator by which it is not sent twice", async () => {
    const site = await startCachedSite();
    await warm(site, "/");
    const { headers } = await site.get("/");
    expect(headers.age).toMatch(/^\d+$/);
    const again = await site.get("/", { "if-none-match": headers.etag ?? "" });
    expect(again).toMatchObject({ status: 304, body: "", cache: "HIT" });
    expect(again.headers["content-length"]).toBeUndefined();
    expect(await site.get("/", { "if-none-match": '"other"' })).toMatchObject({ status: 200 });
  });

  test("is compressed once, in the form that the visitor likes best", async () => {
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

  test("that is a file by now is not shown any more", async () => {
    const site = await startCachedSite({}, { edge: {} });
    await warm(site, "/robots.txt");
    await writeFile(`${site.root}/robots.txt`, "a file");
    await eventually(async () => expect((await site.get("/robots.txt")).body).toBe("a file"));
  });
});

describe("nothing is kept of what is for one visitor", () => {
  test.each([
    ["somebody who is logged in", { cookie: "wordpress_logged_in_0123=ada%7C1" }],
    ["somebody who has commented", { cookie: "comment_author_0123=Ada" }],
    ["somebody who knows a page's password", { cookie: "wp-postpass_0123=x" }],
    ["a shop's visitor with something in the cart", { cookie: "woocommerce_items_in_cart=1" }],
    ["a visitor with a session of PHP", { cookie: "_ga=1; PHPSESSID=abc" }],
    ["a visitor with a cookie that nobody knows", { cookie: "currency=EUR" }],
    ["somebody with a password in the request", { authorization: "Basic YTpi" }],
    ["a script in the page", { "x-requested-with": "XMLHttpRequest" }],
    ["a program that reads JSON", { accept: "application/activity+json" }],
    ["somebody who wants a part", { range: "bytes=0-10" }],
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

  test("a cookie that only counts visitors changes nothing, and PHP never sees it", async () => {
    const site = await startCachedSite();
    await site.get("/", { cookie: "_ga=GA1.1.1; _ga_ABC123=GS1; CookieConsent=yes" });
    await eventually(async () => expect(await stateOf(site, "/")).toBe("HIT"));
    expect(site.upstream.asked[0]?.request.headers.cookie).toBeUndefined();
  });

  test.each([
    ["a cookie", [["Set-Cookie", "cart=1"]]],
    ["no-store", [["Cache-Control", "no-store"]]],
    [
      "what WordPress says of its own pages",
      [["Cache-Control", "no-cache, must-revalidate, max-age=0, no-store, private"]],
    ],
    ["no time at all", [["Cache-Control", "max-age=0"]]],
    ["a time that is over", [["Expires", "Wed, 11 Jan 1984 05:00:00 GMT"]]],
    ["an old word for no", [["Pragma", "no-cache"]]],
    ["that it depends on everything", [["Vary", "*"]]],
    ["that it depends on a header of the visitor's", [["Vary", "X-Country"]]],
    ["another form", [["Content-Encoding", "gzip"]]],
  ] as const)("where PHP answers with %s", async (_, headers) => {
    const site = await startCachedSite();
    site.respond = (made) => textAnswer(`page ${made}`, [...html, ...headers]);
    expect(await site.get("/")).toMatchObject({ cache: "MISS", body: "page 1" });
    expect(await site.get("/")).toMatchObject({ cache: "MISS", body: "page 2" });
  });

  test.each([301, 302, 404, 403, 500, 503])("with the status %i", async (status) => {
    const site = await startCachedSite();
    site.respond = (made) => textAnswer(`page ${made}`, html, status);
    await site.get("/");
    expect(await site.get("/")).toMatchObject({ status, cache: "MISS", body: "page 2" });
  });

  test("where the site says at its end that nobody else may have it", async () => {
    const site = await startCachedSite();
    site.respond = (made) => ({ ...textAnswer(`page ${made}`, html), mayBeCached: Promise.resolve(false) });
    await site.get("/");
    expect(await site.get("/")).toMatchObject({ cache: "MISS", body: "page 2" });
  });

  test("where it breaks off", async () => {
    const site = await startCachedSite();
    site.respond = (made) => {
      const body = new PassThrough();
      body.write(`page ${made}`);
      setImmediate(() => body.destroy(new Error("killed")));
      return { status: 200, headers: html, body };
    };
    await expect(site.get("/")).rejects.toThrow();
    site.respond = (made) => textAnswer(`whole ${made}`, html);
    expect(await site.get("/")).toMatchObject({ cache: "MISS", body: "whole 2" });
  });

  test("where it is longer than anybody's page", async () => {
    const site = await startCachedSite();
    site.respond = () => textAnswer("x".repeat(5 << 20), html);
    await site.get("/");
    expect(await stateOf(site, "/")).toBe("MISS");
  });

  test("to a file for downloading, nor to a picture that a plugin makes", async () => {
    const site = await startCachedSite();
    site.respond = () => textAnswer("x", [["Content-Type", "application/zip"]]);
    await site.get("/download/5");
    expect(await stateOf(site, "/download/5")).toBe("MISS");
  });

  test("of an environment without a cache: its answers say nothing about one", async () => {
    const site = await startCachedSite();
    const { pageCache: _, ...environment } = site.environment;
    await putTable(site.edge, tableOf(2, [environment], { "site.localhost": "one" }));
    expect(await site.get("/")).toMatchObject({ cache: undefined, body: "page 1" });
    expect(await site.get("/")).toMatchObject({ cache: undefined, body: "page 2" });
  });

  test("of what PHP asks of its own site", async () => {
    const site = await startCachedSite();
    await warm(site, "/");
    const inside = await ask(site.edge, "/", { headers: browser, socketPath: site.edge.loopbackSocket });
    expect([inside.headers["x-cache"], inside.body]).toEqual(["BYPASS", "page 2"]);
  });
});

describe("poison", () => {
  test.each([
    ["a header that says another host", { "x-forwarded-host": "evil.example" }],
    ["a header that says another scheme", { "x-forwarded-proto": "https", "x-forwarded-scheme": "nothttps" }],
    ["a header that says another path", { "x-original-url": "/wp-admin/", "x-rewrite-url": "/evil" }],
    ["a header that nobody knows", { "x-evil": "<script>" }],
    ["a browser's name", { "user-agent": "<script>alert(1)</script>" }],
    ["where somebody came from", { referer: "https://evil.example/<script>" }],
    ["a language", { "accept-language": "<script>" }],
    ["a cookie that counts", { cookie: "_ga=<script>" }],
  ])("in %s is not shown to others, because PHP never sees it", async (_, headers) => {
    const site = await startCachedSite();
    site.respond = (__, request) => textAnswer(JSON.stringify(request.headers), html);
    const first = await site.get("/", headers);
    expect(first.body).not.toMatch(/evil|script|nothttps/);
    await eventually(async () => expect(await stateOf(site, "/")).toBe("HIT"));
    expect((await site.get("/")).body).not.toMatch(/evil|script|nothttps/);
  });

  test("in a field that only advertisers know is not in the address that PHP is asked for", async () => {
    const site = await startCachedSite();
    site.respond = (_, request) => textAnswer(request.url, html);
    expect((await site.get("/?utm_source=%22%3E%3Cscript%3E")).body).toBe("/");
  });

  test("in another spelling of an address stays at that spelling", async () => {
    const site = await startCachedSite();
    site.respond = (_, request) => textAnswer(request.url, html);
    await warm(site, "/%61bout/");
    expect((await site.get("/about/")).body).toBe("/about/");
    expect((await site.get("//about/")).body).toBe("//about/");
  });

  test("by another name of the host is that name's alone", async () => {
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

  test("in the body of a GET asks for itself alone", async () => {
    const site = await startCachedSite();
    const fat = { headers: { ...browser, "content-length": "3" }, body: "a=1" };
    await ask(site.edge, "/", fat);
    expect(await stateOf(site, "/")).toBe("MISS");
  });
});

describe("what differs by language", () => {
  test("is kept for each, once a page has said so", async () => {
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

describe("what has changed", () => {
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
    ["a page, with its parts", { urls: ["http://site.localhost/news/one/"] }, ["/news/one/", "/news/one/?page=2"]],
    ["a page without its last slash", { urls: ["/news/one"] }, ["/news/one/", "/news/one/?page=2"]],
    ["a page by its number", { urls: ["https://any.example:8443/?p=5"] }, ["/?p=5"]],
    ["everything below", { subtrees: ["http://site.localhost/news/"] }, ["/news/", "/news/one/", "/news/one/?page=2"]],
    ["a name in another spelling", { urls: ["/caf%C3%A9/"] }, ["/caf%c3%a9/"]],
    ["everything", { everything: true }, paths],
    ["an address that can't be read: everything", { urls: ["/%zz"] }, paths],
    ["nothing", {}, []],
    ["a page that is not kept", { urls: ["/other/"] }, []],
  ])("%s", async (_, order, expected) => {
    const site = await startFilled();
    const { status, body } = await site.purge(order);
    expect([status, JSON.parse(body)]).toEqual([200, { removed: expected.length }]);
    expect(await gone(site)).toEqual(expected);
  });

  test("in one site touches no other's pages", async () => {
    const site = await startFilled();
    await site.purge({ environmentId: "two", everything: true });
    expect(await gone(site)).toEqual([]);
  });

  test("while PHP made the page: it is not kept, and who asks then has a new one made", async () => {
    const site = await startCachedSite();
    const gate = Promise.withResolvers<void>();
    site.respond = async (made) => {
      if (made === 1) await gate.promise;
      return textAnswer(`page ${made}`, html);
    };
    const old = site.get("/news/");
    await eventually(() => expect(site.asked()).toHaveLength(1));
    site.edge.touched("one", { urls: ["/news/"], subtrees: [], everything: false });
    gate.resolve();
    expect((await old).body).toBe("page 1");
    expect(await site.get("/news/")).toMatchObject({ cache: "MISS", body: "page 2" });
  });

  test("by a new release, a new run of PHP or a cleared cache: nothing of before is shown", async () => {
    const site = await startCachedSite();
    const changes = [{ release: 2 }, { release: 2, phpRun: 1 }, { release: 2, phpRun: 1, pageCache: { epoch: 2 } }];
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
  ])("is not understood: %s", async (body) => {
    const site = await startCachedSite();
    const got = await ask(site.edge, "/cache/purge", { socketPath: site.edge.adminSocket, method: "POST", body });
    expect(got.status).toBe(400);
  });
});

describe("a page that is too old", () => {
  const minute = 60_000;

  /** Begins with a page at `/`, and with PHP that answers as it is told. */
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

  test("is shown at once, and made anew meanwhile by one request that nobody waits for", async () => {
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

  test("stays where PHP fails to make it anew, which is tried again after a pause", async () => {
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

  test("is made while the visitor waits when its forms would not work any more; a crowd costs one request", async () => {
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
    ["answers with an error", () => textAnswer("error", html, 503)],
    ["stops unexpectedly", fails("crashed")],
    ["is too busy", fails("busy")],
  ])("is the last resort where PHP %s, for a day", async (_, respond) => {
    const { site, later, answer } = await startOld();
    answer(respond);
    later(11 * 60 * minute);
    expect(await site.get("/")).toMatchObject({ status: 200, cache: "STALE", body: "old" });
    later(14 * 60 * minute);
    expect((await site.get("/")).status).toBeGreaterThanOrEqual(500);
  });

  test("is not shown once PHP has said that it is gone", async () => {
    const { site, later, answer } = await startOld();
    answer(() => textAnswer("gone", html, 404));
    later(90 * minute);
    expect((await site.get("/")).body).toBe("old");
    await eventually(async () => expect((await site.get("/")).status).toBe(404));
    answer(() => textAnswer("error", html, 500));
    expect((await site.get("/")).status).toBe(500);
  });

  test("is one of whatever age the site itself has said", async () => {
    const { site, later, answer } = await startOld();
    answer(() => textAnswer("short", [...html, ["Cache-Control", "public, max-age=5, s-maxage=60"]]));
    await warm(site, "/short/");
    later(59_000);
    expect((await site.get("/short/")).cache).toBe("HIT");
    later(2_000);
    expect((await site.get("/short/")).cache).toBe("MISS");
  });

  test("is not made anew for a site that is being changed, and is shown meanwhile", async () => {
    const { site, later } = await startOld();
    const frozen = { ...site.environment, isFrozen: true };
    await putTable(site.edge, tableOf(2, [frozen], { "site.localhost": "one" }));
    later(90 * minute);
    expect(await site.get("/")).toMatchObject({ cache: "STALE", body: "old" });
    expect(site.asked()).toHaveLength(1);
  });
});

test("what is kept in memory has a limit, and what was asked for longest ago goes", async () => {
  const site = await startCachedSite({}, { edge: { pages: { memoryBytes: 1 << 20 } } });
  site.respond = (_, { url }) => textAnswer(`${url} ${randomBytes(50_000).toString("hex")}`, html);
  await warm(site, "/first/");
  for (let at = 0; at < 10; at += 1) await warm(site, `/${at}/`);
  expect(await stateOf(site, "/9/")).toBe("HIT");
  expect(await stateOf(site, "/first/")).toBe("MISS");
});
