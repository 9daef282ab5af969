import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { eventually } from "./testing/eventually.ts";
import { FakeNoAnswer, textAnswer } from "./testing/fakeUpstream.ts";
import { ask, openRaw, putTable, type Sending, statusOf } from "./testing/http.ts";
import { type EdgeWorld, startSite, tableOf } from "./testing/withEdge.ts";
import type { UpstreamResponse } from "./upstream.ts";

const frontPage = "GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n";
const html = [["Content-Type", "text/html"]] as const;

/** PHP that makes every page but markers only when it is told to, and numbers them. */
async function startSlowSite(files: Record<string, string> = {}) {
  const world = await startSite(files);
  const { upstream } = world;
  const gate = Promise.withResolvers<void>();
  let made = 0;
  const slow = {
    ...world,
    headers: html as readonly (readonly [string, string])[],
    status: 200,
    make: () => gate.resolve(),
    /** The addresses that PHP was asked for, without those that only tell that all before them has arrived. */
    asked: () => upstream.asked.map(({ request }) => request.url).filter((url) => !url.startsWith("/marker")),
  };
  upstream.answer = async ({ url }) => {
    if (url.startsWith("/marker")) return textAnswer("marker");
    made += 1;
    const page = `page ${made}`;
    await gate.promise;
    return textAnswer(page, slow.headers, slow.status);
  };
  return slow;
}

/** Has PHP asked for the front page by a first visitor, who waits for it. */
async function beginPage({ edge, upstream }: Pick<EdgeWorld, "edge" | "upstream">, sending?: Sending) {
  const before = upstream.asked.length;
  const page = ask(edge, "/", sending);
  page.catch(() => undefined);
  await eventually(() => expect(upstream.asked.length).toBe(before + 1));
  return { page };
}

let markers = 0;

/** Asks for the front page on a connection of its own; resolves when the edge has this request. */
async function arrive({ edge, upstream }: Pick<EdgeWorld, "edge" | "upstream">) {
  markers += 1;
  const marker = `/marker/${markers}`;
  const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: site.localhost\r\n`;
  const visitor = openRaw(edge);
  visitor.socket.write(`${head("/")}\r\n${head(marker)}Connection: close\r\n\r\n`);
  await eventually(() => expect(upstream.asked.some(({ request }) => request.url === marker)).toBe(true));
  return { ...visitor, ended: once(visitor.socket, "close") };
}

test("a crowd that asks the same at once gets one page, which PHP makes once", async () => {
  const site = await startSlowSite();
  const { page } = await beginPage(site);
  const crowd = await Promise.all(Array.from({ length: 100 }, () => arrive(site)));
  site.make();
  expect((await page).body).toBe("page 1");
  await Promise.all(crowd.map(({ ended }) => ended));
  for (const { received } of crowd) {
    expect(statusOf(received())).toBe(200);
    expect(received()).toMatch(/content-type: text\/html\r\n/i);
    expect(received()).toContain("\r\npage 1\r\n");
  }
  expect(site.asked()).toEqual(["/"]);
});

test("who comes while the page is passed on gets all of it", async () => {
  const site = await startSite();
  const page = new PassThrough();
  site.upstream.answer = ({ url }) => (url === "/" ? { status: 200, headers: html, body: page } : textAnswer("marker"));
  page.write("first ");
  const first = openRaw(site.edge);
  first.socket.write(frontPage);
  await eventually(() => expect(first.received()).toContain("first"));
  const later = await arrive(site);
  page.end("last");
  await later.ended;
  expect(later.received()).toContain("first last");
});

test("nothing is kept: who comes afterwards has it made again", async () => {
  const site = await startSlowSite();
  site.make();
  expect((await ask(site.edge, "/")).body).toBe("page 1");
  expect((await ask(site.edge, "/")).body).toBe("page 2");
});

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

test("once such a page is for all, it is shared again", async () => {
  const site = await startSite();
  const { upstream } = site;
  upstream.answer = () => textAnswer("mine", [["Set-Cookie", "a=1"]]);
  await ask(site.edge, "/");
  upstream.answer = () => textAnswer("ours");
  await ask(site.edge, "/");
  const gate = Promise.withResolvers<void>();
  upstream.answer = async ({ url }) => {
    if (url === "/") await gate.promise;
    return textAnswer("ours");
  };
  const { page } = await beginPage(site);
  const later = await arrive(site);
  gate.resolve();
  await Promise.all([page, later.ended]);
  expect(upstream.asked.filter(({ request }) => request.url === "/")).toHaveLength(3);
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

describe("whoever has written something finds it", () => {
  /** Answers with what has been written when PHP begins with the page. */
  async function startNotebook() {
    const world = await startSite();
    const gates: PromiseWithResolvers<void>[] = [];
    let written = "nothing";
    world.upstream.answer = async ({ method, url }) => {
      if (url.startsWith("/marker")) return textAnswer("marker");
      const seen = written;
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      if (method === "POST") written = "news";
      return textAnswer(seen);
    };
    const release = (index: number) => gates[index]?.resolve();
    return { ...world, release };
  }

  const save = { method: "POST", body: "a=1" };

  test("also where a page was begun before it was written", async () => {
    const site = await startNotebook();
    const { page: before } = await beginPage(site);
    const { page: saved } = await beginPage(site, save);
    site.release(1);
    await saved;
    const { page: after } = await beginPage(site);
    for (const index of [0, 2]) site.release(index);
    expect((await before).body).toBe("nothing");
    expect((await after).body).toBe("news");
  });

  test("also where a page was begun while it was written", async () => {
    const site = await startNotebook();
    const { page: saved } = await beginPage(site, save);
    await beginPage(site);
    site.release(0);
    await saved;
    const { page: after } = await beginPage(site);
    for (const index of [1, 2]) site.release(index);
    expect((await after).body).toBe("news");
  });

  test("and pages are shared again when nobody writes any more", async () => {
    const site = await startNotebook();
    const saves = [await beginPage(site, save), await beginPage(site, save)];
    site.release(0);
    await saves[0]?.page;
    await beginPage(site);
    await beginPage(site);
    site.release(1);
    await saves[1]?.page;
    await beginPage(site);
    const later = await arrive(site);
    site.release(4);
    await later.ended;
    expect(later.received()).toContain("news");
    for (const index of [2, 3]) site.release(index);
  });
});

test("nobody gets a page of an older release, nor one of another PHP process", async () => {
  const site = await startSlowSite();
  await beginPage(site);
  const changes = [{ release: 2 }, { phpVersion: "8.4" }, { phpRun: 1 }];
  for (const [index, change] of changes.entries()) {
    const hosts = { "site.localhost": "one" };
    await putTable(site.edge, tableOf(index + 2, [{ ...site.environment, ...change }], hosts));
    await beginPage(site);
  }
  site.make();
  expect(site.asked()).toHaveLength(4);
});

test("where the first one leaves, those who wait get a page all the same", async () => {
  const site = await startSlowSite();
  const first = openRaw(site.edge);
  first.socket.write(frontPage);
  await eventually(() => expect(site.asked()).toHaveLength(1));
  const waiting = [await arrive(site), await arrive(site)];
  const abort = new Promise((resolve) => site.upstream.asked[0]?.request.signal.addEventListener("abort", resolve));
  first.socket.destroy();
  await abort;
  site.make();
  await Promise.all(waiting.map(({ ended }) => ended));
  for (const { received } of waiting) expect(received()).toContain("page 2");
  expect(site.asked()).toEqual(["/", "/"]);
});

test("who leaves while waiting is missed by nobody", async () => {
  const site = await startSlowSite();
  const { page } = await beginPage(site);
  const leaving = await arrive(site);
  leaving.socket.destroy();
  await leaving.ended;
  site.make();
  expect((await page).body).toBe("page 1");
  expect((await ask(site.edge, "/")).body).toBe("page 2");
});

test("that there is no page is told to all who wait, and PHP is asked once", async () => {
  const site = await startSite();
  const gate = Promise.withResolvers<void>();
  site.upstream.answer = async ({ url }) => {
    if (url.startsWith("/marker")) return textAnswer("marker");
    await gate.promise;
    throw new FakeNoAnswer("deadline");
  };
  const { page } = await beginPage(site);
  const waiting = await arrive(site);
  gate.resolve();
  expect((await page).status).toBe(504);
  await waiting.ended;
  expect(statusOf(waiting.received())).toBe(504);
  expect(site.upstream.asked).toHaveLength(2);
});

test("nobody gets the half of a page that broke off for the first one", async () => {
  const site = await startSite();
  const broken = Promise.withResolvers<void>();
  async function* half() {
    yield Buffer.from("half");
    await broken.promise;
    throw new Error("worker died");
  }
  const answers: UpstreamResponse[] = [{ status: 200, headers: html, body: Readable.from(half()) }];
  site.upstream.answer = ({ url }) => (url === "/" ? (answers.shift() ?? textAnswer("whole")) : textAnswer("marker"));
  const first = expect(ask(site.edge, "/")).rejects.toThrow(/aborted|socket hang up|ECONNRESET/);
  await eventually(() => expect(site.upstream.asked).toHaveLength(1));
  const waiting = await arrive(site);
  broken.resolve();
  await first;
  await waiting.ended;
  expect(waiting.received()).toContain("whole");
  expect(waiting.received()).not.toContain("half");
});

test("a page too long to be kept comes whole to everybody", async () => {
  const site = await startSite();
  const gate = Promise.withResolvers<void>();
  const long = "0123456789".repeat(300_000);
  site.upstream.answer = async ({ url }) => {
    if (url === "/") await gate.promise;
    return { status: 200, headers: html, body: Readable.from(long.match(/.{100000}/g)?.map(Buffer.from) ?? []) };
  };
  const { page } = await beginPage(site);
  const waiting = await arrive(site);
  gate.resolve();
  expect((await page).body).toBe(long);
  await waiting.ended;
  expect(waiting.received().split("0123456789").length - 1).toBe(600_000);
  expect(site.upstream.asked.map(({ request }) => request.url)).toEqual(["/", expect.stringContaining("marker"), "/"]);
});

test("a first visitor who reads slowly holds nobody up", async () => {
  const site = await startSite();
  const body = new PassThrough({ highWaterMark: 1 });
  site.upstream.answer = ({ url }) => (url === "/" ? { status: 200, headers: html, body } : textAnswer("marker"));
  const slow = openRaw(site.edge);
  slow.socket.pause();
  slow.socket.write(frontPage);
  await eventually(() => expect(site.upstream.asked).toHaveLength(1));
  const waiting = await arrive(site);
  for (let piece = 0; piece < 10; piece += 1) body.write(Buffer.alloc(100_000, "x"));
  body.end("last");
  await waiting.ended;
  expect(waiting.received()).toMatch(/xlast/);
});
