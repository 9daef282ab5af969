import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { FakeNoAnswer, textAnswer } from "../testing/fakeUpstream.ts";
import { ask, openRaw, sendRaw } from "../testing/http.ts";
import { startSite } from "../testing/withEdge.ts";
import type { UpstreamRequest } from "./upstream.ts";

/** The first request that reached PHP, once it has. */
async function asked(upstream: { asked: readonly { request: UpstreamRequest }[] }): Promise<UpstreamRequest> {
  return eventually(() => {
    const request = upstream.asked[0]?.request;
    if (request === undefined) throw new Error("no request yet");
    return request;
  });
}

test("PHP gets the visitor's request", async () => {
  const { edge, upstream } = await startSite();
  let body = "";
  upstream.answer = async (request) => {
    body = request.body === null ? "" : await text(request.body);
    return textAnswer("ok");
  };
  const headers = { "content-type": "text/plain", cookie: ["a=1", "b=2"], "X-Own": "yes" };
  await ask(edge, "/index.php/a?b=%2F", { method: "PATCH", headers, body: "sent", host: "Site.Localhost:8081" });
  const { environmentId, request } = upstream.asked[0] ?? {};
  expect(environmentId).toBe("one");
  expect(body).toBe("sent");
  expect(request).toMatchObject({
    method: "PATCH",
    url: "/index.php/a?b=%2F",
    script: "/index.php",
    pathInfo: "/a",
    remoteAddress: "127.0.0.1",
    https: false,
    fromPhp: false,
    headers: { host: "Site.Localhost:8081", "content-type": "text/plain", "x-own": "yes", cookie: "a=1; b=2" },
  });
});

test("a request without a body has none", async () => {
  const { edge, upstream } = await startSite();
  await ask(edge, "/");
  await ask(edge, "/", { method: "POST", headers: { "content-length": "0" } });
  expect(upstream.asked.map(({ request }) => request.body)).toEqual([null, null]);
});

test("spoofed headers do not reach PHP", async () => {
  const { edge, upstream } = await startSite();
  const forged = [
    ["X-Forwarded-For", "1.2.3.4"],
    ["X-Forwarded-Proto", "https"],
    ["X-Forwarded-Host", "evil.example"],
    ["X_Forwarded_For", "1.2.3.4"],
    ["Forwarded", "for=1.2.3.4"],
    ["X-Real-IP", "1.2.3.4"],
    ["Client-IP", "1.2.3.4"],
    ["CF-Connecting-IP", "1.2.3.4"],
    ["Proxy", "http://evil.example"],
    ["X-Original-URL", "/wp-admin/"],
    ["X-Rewrite-URL", "/wp-admin/"],
    ["Keep-Alive", "timeout=5"],
    ["TE", "trailers"],
    ["Upgrade", "h2c"],
    ["X-Hop", "mine"],
    ["Proxy-Authorization", "Basic eA=="],
  ].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `GET / HTTP/1.1\r\nHost: site.localhost\r\nAuthorization: Basic eA==\r\nConnection: close, X-Hop\r\n`;
  await sendRaw(edge, `${head}${forged.join("")}\r\n`);
  const { headers } = await asked(upstream);
  expect(headers).toEqual({ host: "site.localhost", authorization: "Basic eA==" });
});

test("PHP's own requests arrive on the loopback socket and are marked", async () => {
  const { edge, upstream } = await startSite({ "style.css": "css" });
  const got = await ask(edge, "/wp-cron.php", { php: edge.loopbackSocket });
  expect(got.status).toBe(200);
  expect((await asked(upstream)).fromPhp).toBe(true);
  expect((await asked(upstream)).remoteAddress).toBe("127.0.0.1");
  expect((await ask(edge, "/style.css", { php: edge.loopbackSocket })).body).toBe("css");
});

test("PHP's response is passed on without connection headers and invalid headers", async () => {
  const { edge, upstream } = await startSite();
  upstream.answer = () =>
    textAnswer(
      "page",
      [
        ["Content-Type", "text/html; charset=UTF-8"],
        ["Set-Cookie", "a=1; HttpOnly"],
        ["Set-Cookie", "b=2"],
        ["Location", "/gr\u00fc\u00dfe/\u4e2d"],
        ["X-Hop", "1"],
        ["Connection", "X-Hop, close"],
        ["Transfer-Encoding", "gzip"],
        ["Status", "201 Created"],
        ["X-Powered-By", "PHP/8.3.33"],
        ["X-Bad", "a\r\nb"],
        ["X Bad", "a"],
        ["X-Bad\r\nX-Bad", "a"],
        ["Content-Length", "four"],
      ],
      201,
    );
  const got = await ask(edge, "/");
  expect(got).toMatchObject({ status: 201, body: "page" });
  expect(got.headers["set-cookie"]).toEqual(["a=1; HttpOnly", "b=2"]);
  expect(Buffer.from(got.headers.location ?? "", "latin1").toString()).toBe("/gr\u00fc\u00dfe/\u4e2d");
  for (const name of ["x-hop", "status", "x-powered-by", "x-bad", "content-length"])
    expect(got.headers).not.toHaveProperty(name);
});

test("HEAD, 204 and 304 have no body, even if PHP sends one", async () => {
  const { edge, upstream } = await startSite();
  upstream.answer = () => textAnswer("page", [["Content-Length", "4"]]);
  const head = await ask(edge, "/", { method: "HEAD" });
  expect(head).toMatchObject({ status: 200, body: "" });
  expect(head.headers["content-length"]).toBe("4");
  for (const status of [204, 304]) {
    upstream.answer = () => textAnswer("page", [], status);
    expect(await ask(edge, "/")).toMatchObject({ status, body: "" });
  }
});

test("the first bytes reach the visitor while PHP is still running", async () => {
  const { edge, upstream } = await startSite();
  const page = new PassThrough();
  upstream.answer = () => ({ status: 200, headers: [], body: page });
  page.write("first");
  const visitor = openRaw(edge);
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\nConnection: close\r\n\r\n");
  await eventually(() => expect(visitor.received()).toContain("first"));
  page.end("last");
  await once(visitor.socket, "close");
  expect(visitor.received()).toContain("last");
});

test("a visitor who reads slowly slows PHP down instead of filling memory", async () => {
  const { edge, upstream } = await startSite();
  let made = 0;
  const endless = new Readable({
    read() {
      made += 65_536;
      this.push(Buffer.alloc(65_536));
    },
  });
  upstream.answer = () => ({ status: 200, headers: [], body: endless });
  const visitor = openRaw(edge);
  visitor.socket.pause();
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  await eventually(() => expect(made).toBeGreaterThan(100_000));
  let before = -1;
  await vi.waitFor(
    () => {
      const settled = made === before;
      before = made;
      expect(settled).toBe(true);
    },
    { interval: 100, timeout: 60_000 },
  );
  expect(made).toBeLessThan(32 * 1024 * 1024);
  visitor.socket.destroy();
  await eventually(() => expect(endless.destroyed).toBe(true));
});

test("PHP is told when the visitor leaves before the response", async () => {
  const { edge, upstream } = await startSite();
  upstream.answer = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new FakeNoAnswer("crashed"))));
  const visitor = openRaw(edge);
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  const { signal } = await asked(upstream);
  expect(signal.aborted).toBe(false);
  visitor.socket.destroy();
  await eventually(() => expect(signal.aborted).toBe(true));
});

test("PHP is told when the visitor leaves in the middle of the response", async () => {
  const { edge, upstream } = await startSite();
  const page = new PassThrough();
  upstream.answer = () => ({ status: 200, headers: [], body: page });
  page.write("first");
  const visitor = openRaw(edge);
  visitor.socket.write("GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  await eventually(() => expect(visitor.received()).toContain("first"));
  visitor.socket.destroy();
  await eventually(() => expect(page.destroyed).toBe(true));
  expect((await asked(upstream)).signal.aborted).toBe(true);
});

test("a normal end of a visit is not reported as an abort", async () => {
  const { edge, upstream } = await startSite();
  await ask(edge, "/");
  await ask(edge, "/", { method: "POST", body: "a=1" });
  expect(upstream.asked.map(({ request }) => request.signal.aborted)).toEqual([false, false]);
});

test.each([
  ["the page was cut off", "half", undefined],
  ["the page is longer than PHP announced", "much too long", "4"],
  ["the page is shorter than PHP announced", "ab", "400"],
])("the visitor can tell that a response is incomplete: %s", async (what, body, length) => {
  const { edge, upstream } = await startSite();
  async function* page() {
    yield Buffer.from(body);
    if (what === "the page was cut off") throw new Error("worker died");
  }
  const headers = length === undefined ? [] : [["Content-Length", length] as const];
  upstream.answer = () => ({ status: 200, headers, body: Readable.from(page()) });
  await expect(ask(edge, "/")).rejects.toThrow(/aborted|socket hang up|ECONNRESET/);
  upstream.answer = () => textAnswer("fine");
  expect((await ask(edge, "/")).body).toBe("fine");
});

test.each([
  ["busy", 503, "5", "This site is very busy"],
  ["unavailable", 503, "5", "This site is not available at the moment"],
  ["deadline", 504, undefined, "This page took too long"],
  ["crashed", 502, undefined, "This site couldn't finish the page"],
  ["nonsense", 502, undefined, "This site couldn't finish the page"],
])("if PHP fails with %s, the visitor gets a %i with an explanation", async (reason, status, retry, title) => {
  const { edge, upstream, logged } = await startSite();
  upstream.answer = () => Promise.reject(new FakeNoAnswer(reason));
  const got = await ask(edge, "/", { headers: { accept: "text/html,*/*" } });
  expect(got.status).toBe(status);
  expect(got.headers["retry-after"]).toBe(retry);
  expect(got.body).toContain(title);
  expect(got.body).not.toContain("/srv/secret/path");
  expect(logged.some(({ level, message }) => level === "warn" && message === "PHP gave no complete response")).toBe(
    true,
  );
});

test.each([
  ["4", "5"],
  ["5", "4"],
  ["4", "4"],
])("two announced lengths, %s and %s, are both removed", async (one, two) => {
  const { edge, upstream } = await startSite();
  upstream.answer = () =>
    textAnswer("page", [
      ["Content-Length", one],
      ["content-length", two],
    ]);
  const got = await sendRaw(edge, "GET / HTTP/1.1\r\nHost: site.localhost\r\nConnection: close\r\n\r\n");
  expect(got).not.toMatch(/content-length/i);
  expect(got).toMatch(/\r\n4\r\npage\r\n0\r\n\r\n$/);
});

test.each([0, 99, 101, 600, 200.5, Number.NaN])("a status of %d from PHP is a 502", async (status) => {
  const { edge, upstream } = await startSite();
  upstream.answer = () => textAnswer("page", [], status);
  expect((await ask(edge, "/")).status).toBe(502);
});

test("PHP can't set a cookie for all sites below the suffix", async () => {
  const { edge, upstream } = await startSite();
  upstream.answer = () =>
    textAnswer("ok", [
      ["Set-Cookie", "evil=1; Domain=localhost; Path=/"],
      ["Set-Cookie", "own=1; Domain=site.localhost"],
    ]);
  const { headers } = await ask(edge, "/");
  expect(headers["set-cookie"]).toEqual(["evil=1; Path=/", "own=1; Domain=site.localhost"]);
});

test("only the site's own PHP can request wp-cron.php", async () => {
  const { edge, upstream } = await startSite({ "wp-cron.php": "<?php", "blog/wp-cron.php": "<?php" });
  for (const path of ["/wp-cron.php", "/wp-cron.php?doing_wp_cron=1", "/blog/wp-cron.php", "/wp-cron.php/x"]) {
    expect((await ask(edge, path)).status, path).toBe(404);
    expect((await ask(edge, path, { method: "POST", body: "a=1" })).status, path).toBe(404);
  }
  expect(upstream.asked).toEqual([]);
  expect((await ask(edge, "/wp-cron.php", { php: edge.loopbackSocket })).status).toBe(200);
});

test("a cookie that a neighbour may have set for all sites does not reach PHP", async () => {
  const { edge, upstream } = await startSite();
  await ask(edge, "/", { headers: { cookie: "wordpress_x=forged; wordpress_x=own; b=2" } });
  expect(upstream.asked[0]?.request.headers.cookie).toBe("b=2");
});
