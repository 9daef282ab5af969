import { execFileSync } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { textAnswer } from "./testing/fakeUpstream.ts";
import { ask, putTable, sendRaw, statusOf } from "./testing/http.ts";
import { makeEnvironment, startEmptyEdge, startSite, tableOf, writeFiles } from "./testing/withEdge.ts";

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

test("TRACE is refused everywhere", async () => {
  const { edge, upstream } = await startSite();
  expect((await ask(edge, "/", { method: "TRACE" })).status).toBe(405);
  expect(upstream.asked).toEqual([]);
});

test("an unknown expectation is ignored", async () => {
  const { edge } = await startSite(files);
  const head = "GET /style.css HTTP/1.1\r\nHost: site.localhost\r\nExpect: tea\r\nConnection: close\r\n\r\n";
  const response = await sendRaw(edge, head);
  expect([statusOf(response), response.endsWith(css)]).toEqual([200, true]);
});

test("overlays from the shared core replace the site's own folders", async () => {
  const world = await startEmptyEdge();
  const root = path.join(world.folder, "site");
  const core = path.join(world.folder, "core");
  await writeFiles(core, {
    "wp-admin/index.php": "<?php",
    "wp-admin/common.css": "shared",
    "wp-includes/a.js": "shared",
  });
  await writeFiles(root, { "wp-admin/common.css": "own", "wp-content/wp-admin/x.css": "own" });
  const overlays = { "wp-admin": path.join(core, "wp-admin"), "wp-includes": path.join(core, "wp-includes") };
  await putTable(world.edge, tableOf(1, [makeEnvironment(root, { overlays })], { "site.localhost": "one" }));

  expect((await ask(world.edge, "/wp-admin/common.css")).body).toBe("shared");
  expect((await ask(world.edge, "/wp-includes/a.js")).body).toBe("shared");
  expect((await ask(world.edge, "/wp-content/wp-admin/x.css")).body).toBe("own");
  expect((await ask(world.edge, "/wp-admin/")).body).toBe("GET /wp-admin/index.php");
  expect((await ask(world.edge, "/wp-admin?a=1")).headers.location).toBe("/wp-admin/?a=1");
});

test("symbolic links may lead to files of the site and its core, but not elsewhere", async () => {
  const { edge, folder, root } = await startSite({ ...files, "wp-content/uploads/a.txt": "inside" });
  await writeFiles(folder, { "outside/secret.txt": "secret", "site-2/secret.txt": "secret" });
  await symlink(path.join(root, "wp-content/uploads/a.txt"), path.join(root, "in.txt"));
  await symlink(path.join(folder, "outside/secret.txt"), path.join(root, "out.txt"));
  await symlink("../outside/secret.txt", path.join(root, "relative.txt"));
  await symlink(path.join(folder, "outside"), path.join(root, "folder"));
  await symlink(path.join(folder, "site-2"), path.join(root, "neighbour"));
  await symlink("/etc", path.join(root, "etc"));
  await symlink("loop.txt", path.join(root, "loop.txt"));
  await symlink(path.join(root, "index.php"), path.join(root, "source.txt"));

  expect((await ask(edge, "/in.txt")).body).toBe("inside");
  const outside = [
    "/out.txt",
    "/relative.txt",
    "/folder/secret.txt",
    "/neighbour/secret.txt",
    "/etc/passwd",
    "/loop.txt",
  ];
  for (const url of outside) expect((await ask(edge, url)).body, url).toBe("GET /index.php");
  expect((await ask(edge, "/source.txt")).status).toBe(404);
});

test("special files and folders without an index are not served", async () => {
  const { edge, root } = await startSite();
  execFileSync("mkfifo", [path.join(root, "pipe.txt")]);
  await mkdir(path.join(root, "folder"));
  expect((await ask(edge, "/pipe.txt")).body).toBe("GET /index.php");
  expect((await ask(edge, "/folder/")).body).toBe("GET /index.php");
});

test.each([
  ["/.env"],
  ["/wp-config.php"],
  ["/wp-config.php~"],
  ["/index%2ePHP"],
  ["/index.php%20"],
  ["/index.php%2e"],
  ["/source.phtml"],
  ["/dump.sql"],
  ["/wp-content/debug.log"],
  ["/wp-content/uploads/evil.php"],
])("%s is answered with a 404", async (url) => {
  const names = [".env", "wp-config.php", "wp-config.php~", "index.PHP", "index.php ", "index.php.", "source.phtml"];
  const secrets = [...names, "dump.sql", "wp-content/debug.log", "wp-content/uploads/evil.php"];
  const { edge, upstream } = await startSite(Object.fromEntries(secrets.map((name) => [name, "secret"])));
  const got = await ask(edge, url);
  expect(got.status).toBe(404);
  expect(got.body).not.toContain("secret");
  expect(upstream.asked).toEqual([]);
});

test.each([
  "/../../etc/passwd",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/..%2f..%2fetc/passwd",
  "/..\\..\\etc",
  "/%00",
  "/%252e%252e/",
])("%s is a 400 and never reaches the site", async (url) => {
  const { edge, upstream } = await startSite();
  const raw = await sendRaw(edge, `GET ${url} HTTP/1.1\r\nHost: site.localhost\r\nConnection: close\r\n\r\n`);
  expect(statusOf(raw)).toBe(400);
  expect(upstream.asked).toEqual([]);
});

test("a redirect never leads to another site", async () => {
  const { edge } = await startSite({ "evil.example/index.php": "<?php" });
  const got = await ask(edge, "//evil.example");
  expect(got.headers.location).toBe("/evil.example/");
});

test("a redirect keeps the method of a POST", async () => {
  const { edge } = await startSite({ "folder/index.php": "<?php" });
  expect((await ask(edge, "/folder", { method: "POST", body: "a=1" })).status).toBe(308);
  expect((await ask(edge, "/folder")).status).toBe(301);
});

test("case, port and trailing dot of a host make no difference", async () => {
  const { edge } = await startSite(files);
  for (const host of ["site.localhost", "SITE.localhost:8081", "site.localhost.", "site.localhost.:1"]) {
    expect((await ask(edge, "/style.css", { host })).status, host).toBe(200);
  }
});

test("an unknown host gets a friendly 404", async () => {
  const { edge, upstream } = await startSite();
  const got = await ask(edge, "/", { host: "unknown.localhost" });
  expect(got.status).toBe(404);
  expect(got.body).toContain("There is no site at this address");
  expect(got.headers["x-robots-tag"]).toBe("noindex");
  expect(upstream.asked).toEqual([]);
});

test.each([
  ["no Host", "GET / HTTP/1.1\r\n\r\n"],
  ["no Host, as HTTP/1.0 allows", "GET / HTTP/1.0\r\n\r\n"],
  ["an empty Host", "GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"],
  ["two Hosts", "GET / HTTP/1.1\r\nHost: site.localhost\r\nHost: other.localhost\r\nConnection: close\r\n\r\n"],
  ["a list of Hosts", "GET / HTTP/1.1\r\nHost: site.localhost,other.localhost\r\nConnection: close\r\n\r\n"],
  ["a Host with a path", "GET / HTTP/1.1\r\nHost: site.localhost/x\r\nConnection: close\r\n\r\n"],
  ["a target that is not a path", "GET index.php HTTP/1.1\r\nHost: site.localhost\r\nConnection: close\r\n\r\n"],
  ["OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: site.localhost\r\nConnection: close\r\n\r\n"],
  [
    "both lengths",
    "POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  ["a length that is not a number", "POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: x\r\n\r\n"],
  ["two lengths", "POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
])("%s is a 400", async (_, text) => {
  const { edge, upstream } = await startSite();
  expect(statusOf(await sendRaw(edge, text))).toBe(400);
  expect(upstream.asked).toEqual([]);
});

test("the absolute form is accepted, and its host overrides the header", async () => {
  const { edge, upstream } = await startSite();
  const raw = await sendRaw(
    edge,
    "GET http://site.localhost:8081/a?b HTTP/1.1\r\nHost: other.localhost\r\nConnection: close\r\n\r\n",
  );
  expect(statusOf(raw)).toBe(200);
  expect(upstream.asked[0]?.request).toMatchObject({ url: "/a?b", headers: { host: "site.localhost:8081" } });
});

test("a head that is too large is a 431", async () => {
  const { edge } = await startSite();
  const raw = await sendRaw(edge, `GET / HTTP/1.1\r\nHost: site.localhost\r\nCookie: ${"a".repeat(40_000)}\r\n\r\n`);
  expect(statusOf(raw)).toBe(431);
});

test("pipelined requests are answered in order", async () => {
  const { edge, upstream } = await startSite(files);
  upstream.answer = (request) => textAnswer(`page ${request.url}`);
  const get = (url: string, last = false) =>
    `GET ${url} HTTP/1.1\r\nHost: site.localhost\r\n${last ? "Connection: close\r\n" : ""}\r\n`;
  const raw = await sendRaw(edge, get("/a") + get("/style.css") + get("/.env") + get("/b") + get("/c", true));
  const order = ["page /a", css, "There is nothing here", "page /b", "page /c"].map((text) => raw.indexOf(text));
  expect(order.every((at) => at > 0)).toBe(true);
  expect(order).toEqual([...order].sort((a, b) => a - b));
});
