import { utimes } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { ask } from "../testing/http.ts";
import { startSite } from "../testing/withEdge.ts";

const css = "body { color: red }";
const files = {
  "style.css": css,
  "app.js": "let a",
  "data.json": "{}",
  "cat.jpg": "jpeg",
  "font.woff2": "woff",
  "pic.svg": "<svg/>",
  "pic.avif": "avif",
  "module.mjs": "export {}",
  "code.wasm": "wasm",
  "readme.html": "<p>hi",
  "thing.unknown": "?",
  "no-extension": "?",
  "empty.txt": "",
};

test("a file is sent without PHP", async () => {
  const { edge, upstream } = await startSite(files);
  const got = await ask(edge, "/style.css");
  expect(got).toMatchObject({ status: 200, body: css });
  expect(got.headers).toMatchObject({
    "content-type": "text/css; charset=utf-8",
    "content-length": String(css.length),
    "accept-ranges": "bytes",
    "cache-control": "public, max-age=3600",
    "x-content-type-options": "nosniff",
  });
  expect(got.headers.etag).toBeTypeOf("string");
  expect(got.headers["last-modified"]).toBeTypeOf("string");
  expect(upstream.asked).toEqual([]);
});

test.each([
  ["/app.js", "application/javascript; charset=utf-8"],
  ["/module.mjs", "application/javascript; charset=utf-8"],
  ["/data.json", "application/json; charset=utf-8"],
  ["/cat.jpg", "image/jpeg"],
  ["/pic.svg", "image/svg+xml"],
  ["/pic.avif", "image/avif"],
  ["/font.woff2", "font/woff2"],
  ["/code.wasm", "application/wasm"],
  ["/readme.html", "text/html; charset=utf-8"],
  ["/thing.unknown", "application/octet-stream"],
  ["/no-extension", "application/octet-stream"],
])("%s has the type %s", async (url, type) => {
  const { edge } = await startSite(files);
  expect((await ask(edge, url)).headers["content-type"]).toBe(type);
});

test.each([
  ["/style.css?ver=7.1.1", "public, max-age=31536000, immutable"],
  ["/style.css?a=1&ver=2", "public, max-age=31536000, immutable"],
  ["/style.css?ver=", "public, max-age=3600"],
  ["/style.css?server=1", "public, max-age=3600"],
  ["/style.css", "public, max-age=3600"],
  ["/readme.html?ver=1", "public, max-age=0"],
])("%s has Cache-Control: %s", async (url, caching) => {
  const { edge } = await startSite(files);
  expect((await ask(edge, url)).headers["cache-control"]).toBe(caching);
});

test("HEAD has the same headers and no body", async () => {
  const { edge } = await startSite(files);
  const got = await ask(edge, "/style.css", { method: "HEAD" });
  expect(got).toMatchObject({ status: 200, body: "" });
  expect(got.headers["content-length"]).toBe(String(css.length));
});

test("an empty file is sent as an empty body", async () => {
  const { edge } = await startSite(files);
  expect(await ask(edge, "/empty.txt")).toMatchObject({ status: 200, body: "" });
});

test("a file that the visitor already has is a 304", async () => {
  const { edge } = await startSite(files);
  const first = await ask(edge, "/style.css");
  const etag = first.headers.etag ?? "";
  const modified = first.headers["last-modified"] ?? "";
  expect(await ask(edge, "/style.css", { headers: { "if-none-match": etag } })).toMatchObject({
    status: 304,
    body: "",
  });
  expect(await ask(edge, "/style.css", { headers: { "if-modified-since": modified } })).toMatchObject({ status: 304 });
  expect(await ask(edge, "/style.css", { headers: { "if-none-match": '"other"' } })).toMatchObject({ status: 200 });
});

test("a changed file has a new ETag", async () => {
  const { edge, root } = await startSite(files);
  const before = await ask(edge, "/style.css");
  await utimes(path.join(root, "style.css"), 1, 1);
  expect((await ask(edge, "/style.css")).headers.etag).not.toBe(before.headers.etag);
});

test.each([
  ["bytes=0-3", 206, css.slice(0, 4), `bytes 0-3/${css.length}`],
  ["bytes=5-", 206, css.slice(5), `bytes 5-${css.length - 1}/${css.length}`],
  ["bytes=-4", 206, css.slice(-4), `bytes ${css.length - 4}-${css.length - 1}/${css.length}`],
  ["bytes=0-9999", 206, css, `bytes 0-${css.length - 1}/${css.length}`],
  ["lines=1-2", 200, css, undefined],
])("the range %s is answered with %i", async (range, status, body, contentRange) => {
  const { edge } = await startSite(files);
  const got = await ask(edge, "/style.css", { headers: { range } });
  expect(got).toMatchObject({ status, body });
  expect(got.headers["content-range"]).toBe(contentRange);
});

test("a range outside the file is a 416 with the file's length", async () => {
  const { edge } = await startSite(files);
  const got = await ask(edge, "/style.css", { headers: { range: "bytes=500-600" } });
  expect(got.status).toBe(416);
  expect(got.headers["content-range"]).toBe(`bytes */${css.length}`);
});

test("a range request gets the whole file if it has changed since", async () => {
  const { edge } = await startSite(files);
  const got = await ask(edge, "/style.css", { headers: { range: "bytes=0-3", "if-range": '"other"' } });
  expect(got).toMatchObject({ status: 200, body: css });
});

test.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"])("%s to a file is refused", async (method) => {
  const { edge } = await startSite(files);
  const got = await ask(edge, "/style.css", { method });
  expect(got.status).toBe(405);
  expect(got.headers.allow).toBe("GET, HEAD");
});

const sandboxed = { "content-security-policy": "sandbox", "x-content-type-options": "nosniff" };
const active = ["a.svg", "a.html", "a.xhtml", "a.xml", "a.xsl", "a.rss"];

test("documents among uploads can't run scripts", async () => {
  const names = ["wp-content/uploads", "wp-content/blogs.dir/2"].flatMap((folder) =>
    active.map((name) => `${folder}/${name}`),
  );
  const { edge } = await startSite(Object.fromEntries(names.map((name) => [name, "<a/>"])));
  for (const name of names) expect([name, (await ask(edge, `/${name}`)).headers]).toMatchObject([name, sandboxed]);
});

test("neither can they from memory, in part, or if the visitor has them already", async () => {
  const url = "/wp-content/uploads/a.svg";
  const { edge } = await startSite({ [url]: "<svg/>".repeat(1_000) });
  const send = (headers: Readonly<Record<string, string>>) => ask(edge, url, { headers });
  // Only files in memory are compressed.
  await eventually(async () => {
    expect((await send({ "accept-encoding": "br" })).headers).toMatchObject({ ...sandboxed, "content-encoding": "br" });
  });
  expect(await send({ range: "bytes=0-3" })).toMatchObject({ status: 206, headers: sandboxed });
  expect(await send({ "if-none-match": "*" })).toMatchObject({ status: 304, headers: sandboxed });
});

test("images, other files and documents outside of uploads are sent without a sandbox", async () => {
  const names = ["wp-content/uploads/a.jpg", "wp-content/uploads/a.pdf", "wp-content/uploads/a.txt", ...active];
  const { edge } = await startSite(Object.fromEntries(names.map((name) => [name, "x"])));
  for (const name of names) {
    const { headers } = await ask(edge, `/${name}`);
    expect([name, headers["content-security-policy"]]).toEqual([name, undefined]);
    expect(headers["x-content-type-options"]).toBe("nosniff");
  }
});
