import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { ask, type Sending } from "../testing/http.ts";
import { arrive, beginPage, html, startSlowSite } from "../testing/slowSite.ts";

const otherQuestions: readonly (readonly [what: string, path: string, sending: Sending])[] = [
  ["in another language", "/", { headers: { "accept-language": "de" } }],
  ["on a telephone", "/", { headers: { "user-agent": "Mozilla/5.0 (iPhone) Mobile/15E148" } }],
  ["on a telephone that says so itself", "/", { headers: { "sec-ch-ua-mobile": "?1" } }],
  ["in another form", "/", { headers: { accept: "application/activity+json" } }],
  ["at another address", "/a", {}],
  ["at another port", "/", { host: "site.localhost:8081" }],
];

test.each(otherQuestions)("who asks %s asks something else", async (_, path, sending) => {
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
])("a page that %s asked for is one for any other program too", async (_, headers) => {
  const site = await startSlowSite();
  await beginPage(site, { headers });
  const later = await arrive(site);
  site.make();
  await later.ended;
  expect(later.received()).toContain("page 1");
});

const askedAlone: readonly (readonly [what: string, path: string, sending: Sending])[] = [
  ["with a cookie", "/", { headers: { cookie: "a=1" } }],
  ["with credentials", "/", { headers: { authorization: "Basic eA==" } }],
  ["with a header that not every browser sends", "/", { headers: { "cart-token": "1" } }],
  ["from a link on another site", "/", { headers: { referer: "https://partner.example/" } }],
  ["for a part of the page", "/", { headers: { range: "bytes=0-1" } }],
  ["only if the page is new", "/", { headers: { "if-none-match": '"1"' } }],
  ["for a page that is made now", "/", { headers: { "cache-control": "no-cache" } }],
  ["with a header like those that browsers send", "/", { headers: { "sec-ch-ua-own": "1" } }],
  ["with another one", "/", { headers: { "sec-fetch-own": "1" } }],
  ["with something that PHP has to wait for", "/", { headers: { "transfer-encoding": "chunked" }, body: "a" }],
  ["with something of announced length", "/", { headers: { "content-length": "1" }, body: "a" }],
  ["at an address that is very long", `/${"a".repeat(1_000)}`, {}],
  ["with a query", "/?a=1", {}],
  ["a script of its own", "/wp-login.php", {}],
  ["for the head only", "/", { method: "HEAD" }],
  ["what may be asked", "/", { method: "OPTIONS" }],
  ["with something to save", "/", { method: "POST", body: "a=1" }],
];

test.each(askedAlone)("each of two who ask %s has an own answer", async (_, path, sending) => {
  const site = await startSlowSite({ "wp-login.php": "<?php" });
  const both = [ask(site.edge, path, sending), ask(site.edge, path, sending)];
  await eventually(() => expect(site.asked()).toEqual([path, path]));
  site.make();
  const bodies = (await Promise.all(both)).map(({ body }) => body);
  expect(bodies.toSorted()).toEqual(sending.method === "HEAD" ? ["", ""] : ["page 1", "page 2"]);
});

test("of a site without WordPress, everybody has an own answer", async () => {
  const site = await startSlowSite({}, {});
  const both = [ask(site.edge, "/"), ask(site.edge, "/")];
  await eventually(() => expect(site.asked()).toEqual(["/", "/"]));
  site.make();
  expect((await Promise.all(both)).map(({ body }) => body).toSorted()).toEqual(["page 1", "page 2"]);
});

test("PHP that asks its own site shares nothing", async () => {
  const site = await startSlowSite();
  await beginPage(site);
  const own = ask(site.edge, "/", { socketPath: site.edge.loopbackSocket });
  await eventually(() => expect(site.asked()).toHaveLength(2));
  site.make();
  expect((await own).body).toBe("page 2");
});

test.each([
  ["sets a cookie", 200, [["Set-Cookie", "session=1"]]],
  ["is private", 200, [["Cache-Control", "private, max-age=600"]]],
  ["may not be kept", 200, [["cache-control", "No-Store"]]],
  ["is old at once", 200, [["Cache-Control", "public, max-age=0"]]],
  ["depends on a header", 200, [["Vary", "Accept-Encoding, Cookie"]]],
  ["depends on everything", 200, [["Vary", "*"]]],
  ["is compressed for who asked", 200, [["Content-Encoding", "gzip"]]],
  ["is old at once for those who share", 200, [["Cache-Control", "s-maxage=0"]]],
  ["is old, in the older way", 200, [["Expires", "0"]]],
  ["leads elsewhere", 302, [["Location", "/de/"]]],
  ["is an error", 404, []],
] as const)("an answer that %s is for one only, and nobody waits for such a one again", async (_, status, headers) => {
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
});

test.each([[[]], [[["Vary", "Accept-Encoding"]]], [[["Cache-Control", "public, max-age=60"]]]] as const)(
  "an answer with %j is for all",
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
