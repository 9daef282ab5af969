import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { textAnswer } from "../testing/fakeUpstream.ts";
import { ask2, halfAnUpload, hello, openBare, reset, visit } from "../testing/http2.ts";
import { logged } from "../testing/logged.ts";
import { site, startSecureSite } from "../testing/secureSite.ts";

async function start(files?: Readonly<Record<string, string | Buffer>>, others: readonly string[] = []) {
  const world = await startSecureSite(files, others);
  await world.tell(2, { certificates: [{ ...site, names: ["site.localhost", ...others] }] });
  return { ...world, session: visit(world.tlsPort, world.ca) };
}

test("PHP gets the same request as with HTTP/1.1, without pseudo-headers", async () => {
  const { session, upstream } = await start();
  const got = await ask2(session, "/page?a=b", { "x-mine": "1", cookie: ["a=1", "b=2"] });
  expect([got.status, got.body]).toEqual([200, "GET /index.php"]);
  const { request } = upstream.asked.at(-1) ?? {};
  expect(request).toMatchObject({
    method: "GET",
    url: "/page?a=b",
    https: true,
    body: null,
    remoteAddress: "127.0.0.1",
  });
  expect(request?.headers).toEqual({ host: "site.localhost", "x-mine": "1", cookie: "a=1; b=2" });
});

test("all cookies are sent, and no connection headers of HTTP/1.1", async () => {
  const { session, upstream } = await start();
  const headers = [
    ["Set-Cookie", "a=1"],
    ["Set-Cookie", "b=2"],
    ["Vary", "Cookie"],
    ["vary", "Accept"],
    ["Connection", "keep-alive"],
    ["Transfer-Encoding", "chunked"],
    ["Keep-Alive", "timeout=5"],
  ] as const;
  upstream.answer = () => textAnswer("hello", headers, 201);
  const got = await ask2(session, "/");
  expect(got).toMatchObject({ status: 201, body: "hello" });
  expect(got.headers).toMatchObject({ "set-cookie": ["a=1", "b=2"], vary: "Cookie, Accept" });
  for (const name of ["connection", "transfer-encoding", "keep-alive"]) expect(got.headers).not.toHaveProperty(name);
});

test("HEAD has the headers of GET and no body, for files and for PHP", async () => {
  const { session, upstream } = await start({ "a.txt": "file" });
  upstream.answer = () => textAnswer("hello", [["Content-Length", "5"]]);
  for (const path of ["/a.txt", "/page"]) {
    const got = await ask2(session, path, { ":method": "HEAD" });
    expect([got.status, got.body, Number(got.headers["content-length"])]).toEqual([200, "", path === "/page" ? 5 : 4]);
  }
});

test("files are sent whole, as ranges, or as a 304", async () => {
  const bytes = randomBytes(3_000_000);
  const { session } = await start({ "big.bin": bytes });
  const whole = await ask2(session, "/big.bin");
  expect(whole.bytes.equals(bytes)).toBe(true);
  const part = await ask2(session, "/big.bin", { range: "bytes=1000000-2000000" });
  expect([part.status, part.bytes.equals(bytes.subarray(1_000_000, 2_000_001))]).toEqual([206, true]);
  const same = await ask2(session, "/big.bin", { "if-none-match": whole.headers.etag ?? "" });
  expect([same.status, same.bytes.length]).toEqual([304, 0]);
});

test.each(["with a length", "without one"])("PHP receives an upload %s", async (kind) => {
  const { session, upstream } = await start();
  const sent = randomBytes(90_000);
  upstream.answer = async ({ body }) => textAnswer(body === null ? "none" : (await buffer(body)).toString("hex"));
  const length = kind === "with a length" ? { "content-length": sent.length } : {};
  const got = await ask2(session, "/", { ":method": "POST", ...length }, sent);
  expect(got.body).toBe(sent.toString("hex"));
});

test.each(["announced", "not announced"])("an upload that is too large and %s is refused with a page", async (kind) => {
  const { session, upstream } = await start();
  upstream.answer = async ({ body }) => textAnswer(String(body && (await buffer(body)).length));
  const length = kind === "announced" ? { "content-length": 200_000 } : {};
  const got = await ask2(session, "/", { ":method": "POST", ...length }, Buffer.alloc(200_000));
  expect([got.status, got.body.includes("too large")]).toEqual([413, true]);
  expect((await ask2(session, "/a.txt")).status).toBe(200);
});

test.each(["cancels it", "closes the connection"])("an upload never reaches PHP if the visitor %s", async (how) => {
  const world = await start();
  const socket = await openBare(world.tlsPort, world.ca);
  socket.write(Buffer.concat([hello(), halfAnUpload(1)]));
  expect((await ask2(world.session, "/a.txt")).body).toBe("file");
  if (how === "closes the connection") socket.destroy();
  else socket.write(reset(1));
  expect((await logged(world, "access", 2)).join()).toContain('"POST / HTTP/2.0"');
  expect(world.upstream.asked).toEqual([]);
});

test("PHP's response is aborted when the visitor leaves", async () => {
  const { session, upstream } = await start();
  const body = new PassThrough();
  upstream.answer = () => ({ status: 200, headers: [], body });
  const stream = session.request({ ":authority": "site.localhost", ":path": "/slow" });
  body.write("begun");
  await once(stream, "data");
  stream.close();
  await eventually(() => expect(body.destroyed).toBe(true));
});

test.each(["7", "3"])("a page of five bytes that announces %s is aborted", async (length) => {
  const { session, upstream } = await start();
  upstream.answer = () => textAnswer("12345", [["Content-Length", length]]);
  await expect(ask2(session, "/")).rejects.toThrow();
  expect((await ask2(session, "/a.txt")).body).toBe("file");
});

test.each([true, false])("an incomplete page ends with an error, its beginning read: %s", async (isRead) => {
  const { session, upstream } = await start();
  const crash = Promise.withResolvers<void>();
  const crashes = async function* () {
    yield Buffer.from("half");
    await crash.promise;
    throw new Error("crashed");
  };
  upstream.answer = () => ({ ...textAnswer(""), body: Readable.from(crashes()) });
  const stream = session.request({ ":authority": "site.localhost", ":path": "/" });
  const failed = once(stream, "end").then(
    () => "ended normally",
    (error: Error) => error.message,
  );
  stream.once("data", () => crash.resolve());
  if (!isRead) crash.resolve();
  expect(await failed).toContain("NGHTTP2_INTERNAL_ERROR");
  expect((await ask2(session, "/a.txt")).body).toBe("file");
});

test("a connection has many concurrent requests", async () => {
  const { session, upstream } = await start();
  upstream.answer = ({ url }) => textAnswer(url);
  const paths = Array.from({ length: 90 }, (_, index) => (index % 2 === 0 ? "/a.txt" : `/page-${index}`));
  const got = await Promise.all(paths.map((path) => ask2(session, path)));
  expect(got.map(({ body }) => body)).toEqual(paths.map((path) => (path === "/a.txt" ? "file" : path)));
});

test("a name of the same certificate is served; other names get a 421", async () => {
  const { session, tell } = await start(undefined, ["www.site.localhost"]);
  expect((await ask2(session, "/a.txt", { ":authority": "www.site.localhost" })).status).toBe(200);
  await tell(3, { certificates: [site, { ...site, id: "other", names: ["www.site.localhost"] }] });
  expect((await ask2(session, "/a.txt", { ":authority": "www.site.localhost" })).status).toBe(421);
  expect((await ask2(session, "/a.txt")).status).toBe(200);
});

test("a Host header that differs from :authority is a 400", async () => {
  const { session } = await start();
  expect((await ask2(session, "/a.txt", { host: "site.localhost" })).status).toBe(200);
  expect((await ask2(session, "/a.txt", { host: "other.localhost" })).status).toBe(400);
});

test("Expect: 100-continue, login links and TRACE work as with HTTP/1.1", async () => {
  const { session, upstream } = await start();
  upstream.answer = async ({ body }) => textAnswer(String(body && (await buffer(body))));
  const stream = session.request({ ":method": "POST", ":authority": "site.localhost", expect: "100-continue" });
  await once(stream, "continue");
  stream.end("abc");
  expect((await buffer(stream)).toString()).toBe("abc");
  expect((await ask2(session, "/sitewright-login?token=x")).status).toBe(410);
  expect((await ask2(session, "/", { ":method": "TRACE" })).status).toBe(405);
});

test.each([{}, { expect: "100-continue" }])(
  "a head that is too long is refused, and no other request: %j",
  async (more) => {
    const { session, upstream } = await start();
    const head = { ":method": "POST", "x-long": "x".repeat(40_000), ...more };
    expect((await ask2(session, "/page", head)).status).toBe(431);
    expect((await ask2(session, "/a.txt")).body).toBe("file");
    expect(upstream.asked).toEqual([]);
  },
);

test("closing finishes running requests and sends GOAWAY", async () => {
  const { session, upstream, edge } = await start();
  const body = new PassThrough();
  upstream.answer = () => ({ status: 200, headers: [], body });
  const got = ask2(session, "/slow");
  await eventually(() => expect(upstream.asked).toHaveLength(1));
  const goaway = once(session, "goaway");
  const closed = edge.close(60_000);
  await goaway;
  body.end("all of it");
  expect((await got).body).toBe("all of it");
  await closed;
});

test("cached pages and compressed files are sent as with HTTP/1.1", async () => {
  const { session, tell, environment, upstream } = await start({ "a.css": "a { color: red }".repeat(100) });
  const environments = [{ ...environment, wordpressVersion: "7.1.1", pageCache: { epoch: 1 } }];
  await tell(3, { environments, certificates: [site] });
  upstream.answer = () => textAnswer("page", [["Content-Type", "text/html"]]);
  const state = async (headers = {}) => (await ask2(session, "/", headers)).headers["x-cache"];
  expect(await state()).toBe("MISS");
  await eventually(async () => expect(await state()).toBe("HIT"));
  expect(await state({ cookie: ["_ga=1", "cart=2"] })).toBe("BYPASS");
  expect(await ask2(session, "/", { ":method": "HEAD" })).toMatchObject({ status: 200, body: "" });
  await eventually(async () => {
    const got = await ask2(session, "/a.css", { "accept-encoding": "gzip" });
    expect(got.headers["content-encoding"]).toBe("gzip");
  });
});
