import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { ask, type Sending } from "../testing/http.ts";
import { arrive, beginPage, html, startSlowSite } from "../testing/slowSite.ts";

const differentKeys: readonly (readonly [what: string, path: string, sending: Sending])[] = [
  ["in another language", "/", { headers: { "accept-language": "de" } }],
  ["on a phone", "/", { headers: { "user-agent": "Mozilla/5.0 (iPhone) Mobile/15E148" } }],
  ["on a phone, shown by a client hint", "/", { headers: { "sec-ch-ua-mobile": "?1" } }],
  ["for another type", "/", { headers: { accept: "application/activity+json" } }],
  ["for another path", "/a", {}],
  ["with another port", "/", { host: "site.localhost:8081" }],
];

test.each(differentKeys)("a request %s does not share the page", async (_, path, sending) => {
  const site = await startSlowSite();
  await beginPage(site);
  const other = ask(site.edge, path, sending);
  await eventually(() => expect(site.asked()).toHaveLength(2));
  site.make();
  expect((await other).body).toBe("page 2");
});

test.each([
  ["curl", { accept: "*/*", "user-agent": "curl/8.5.0" }],
  ["Node", { accept: "*/*", "accept-language": "*", "sec-fetch-mode": "cors", "accept-encoding": "br, gzip" }],
  ["the control process", { accept: "*/*", "accept-encoding": "identity", "user-agent": "Sitewright probe" }],
])("a page requested by %s is shared with other clients", async (_, headers) => {
  const site = await startSlowSite();
  await beginPage(site, { headers });
  const later = await arrive(site);
  site.make();
  await later.ended;
  expect(later.received()).toContain("page 1");
});

const notShared: readonly (readonly [what: string, path: string, sending: Sending])[] = [
  ["with a cookie", "/", { headers: { cookie: "a=1" } }],
  ["with credentials", "/", { headers: { authorization: "Basic eA==" } }],
  ["with a header that not every browser sends", "/", { headers: { "cart-token": "1" } }],
  ["from a link on another site", "/", { headers: { referer: "https://partner.example/" } }],
  ["for a range", "/", { headers: { range: "bytes=0-1" } }],
  ["for a changed page", "/", { headers: { "if-none-match": '"1"' } }],
  ["without caches", "/", { headers: { "cache-control": "no-cache" } }],
  ["with an unknown client hint", "/", { headers: { "sec-ch-ua-own": "1" } }],
  ["with an unknown fetch header", "/", { headers: { "sec-fetch-own": "1" } }],
  ["with a chunked body", "/", { headers: { "transfer-encoding": "chunked" }, body: "a" }],
  ["with a body of announced length", "/", { headers: { "content-length": "1" }, body: "a" }],
  ["for a very long URL", `/${"a".repeat(1_000)}`, {}],
  ["with a query", "/?a=1", {}],
  ["for another script", "/wp-login.php", {}],
  ["with HEAD", "/", { method: "HEAD" }],
  ["with OPTIONS", "/", { method: "OPTIONS" }],
  ["with POST", "/", { method: "POST", body: "a=1" }],
];

test.each(notShared)("requests %s share nothing", async (_, path, sending) => {
  const site = await startSlowSite({ "wp-login.php": "<?php" });
  const both = [ask(site.edge, path, sending), ask(site.edge, path, sending)];
  await eventually(() => expect(site.asked()).toEqual([path, path]));
  site.make();
  const bodies = (await Promise.all(both)).map(({ body }) => body);
  expect(bodies.toSorted()).toEqual(sending.method === "HEAD" ? ["", ""] : ["page 1", "page 2"]);
});

test("requests to a site without WordPress share nothing", async () => {
  const site = await startSlowSite({}, {});
  const both = [ask(site.edge, "/"), ask(site.edge, "/")];
  await eventually(() => expect(site.asked()).toEqual(["/", "/"]));
  site.make();
  expect((await Promise.all(both)).map(({ body }) => body).toSorted()).toEqual(["page 1", "page 2"]);
});

test("requests from PHP to its own site share nothing", async () => {
  const site = await startSlowSite();
  await beginPage(site);
  const own = ask(site.edge, "/", { php: site.edge.loopbackSocket });
  await eventually(() => expect(site.asked()).toHaveLength(2));
  site.make();
  expect((await own).body).toBe("page 2");
});

test.each([
  ["sets a cookie", 200, [["Set-Cookie", "session=1"]]],
  ["is private", 200, [["Cache-Control", "private, max-age=600"]]],
  ["must not be stored", 200, [["cache-control", "No-Store"]]],
  ["expires at once", 200, [["Cache-Control", "public, max-age=0"]]],
  ["varies by a header", 200, [["Vary", "Accept-Encoding, Cookie"]]],
  ["varies by everything", 200, [["Vary", "*"]]],
  ["is compressed", 200, [["Content-Encoding", "gzip"]]],
  ["expires at once in shared caches", 200, [["Cache-Control", "s-maxage=0"]]],
  ["has expired by date", 200, [["Expires", "0"]]],
  ["is a redirect", 302, [["Location", "/de/"]]],
  ["is an error", 404, []],
] as const)(
  "a response that %s is not shared, and later requests don't wait for each other",
  async (_, status, headers) => {
    const site = await startSlowSite();
    Object.assign(site, { status, headers: [...html, ...headers] });
    const { page } = await beginPage(site);
    const waiting = await arrive(site);
    expect(site.asked()).toEqual(["/"]);
    site.make();
    expect((await page).body).toBe("page 1");
    await waiting.ended;
    expect(waiting.received()).toContain("page 2");
    const both = [ask(site.edge, "/"), ask(site.edge, "/")];
    expect((await Promise.all(both)).map(({ body }) => body).toSorted()).toEqual(["page 3", "page 4"]);
  },
);

test.each([[[]], [[["Vary", "Accept-Encoding"]]], [[["Cache-Control", "public, max-age=60"]]]] as const)(
  "a response with %j is shared",
  async (headers) => {
    const site = await startSlowSite();
    Object.assign(site, { headers: [...html, ...headers] });
    await beginPage(site);
    const later = await arrive(site);
    site.make();
    await later.ended;
    expect(later.received()).toContain("page 1");
  },
);
