import { readdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { eventually } from "./testing/eventually.ts";
import { FakeNoAnswer, textAnswer } from "./testing/fakeUpstream.ts";
import { ask, openRaw, sendRaw } from "./testing/http.ts";
import { logged } from "./testing/logged.ts";
import { startSite } from "./testing/withEdge.ts";

test("pages, files, redirects and refused requests are in the access log, each once", async () => {
  const site = await startSite({ "style.css": "body {}", "folder/index.php": "<?php" });
  const options = { headers: { "user-agent": "Browser/1", referer: "http://site.localhost/?key=abc" } };
  for (const url of ["/?s=x&token=abc", "/style.css", "/folder", "/.env"]) await ask(site.edge, url, options);
  const lines = await logged(site, "access", 4);
  const asked = lines.map((line) => /"(\S+ \S+) HTTP\/1\.1" (\d+)/.exec(line)?.slice(1));
  expect(asked).toEqual([
    ["GET /?s=x&token=***", "200"],
    ["GET /style.css", "200"],
    ["GET /folder", "301"],
    ["GET /.env", "404"],
  ]);
  for (const line of lines) {
    expect(line).toMatch(/^127\.0\.0\.1 - - \[/);
    expect(line).toMatch(/ "http:\/\/site\.localhost\/\?key=\*\*\*" "Browser\/1" \d+ "site\.localhost"$/);
  }
});

test("logs the bytes sent for each request of a connection", async () => {
  const site = await startSite({ "large.txt": "x".repeat(200_000), "small.txt": "x" });
  const get = (url: string, more = "") => `GET ${url} HTTP/1.1\r\nHost: site.localhost\r\n${more}\r\n`;
  const { socket, received } = openRaw(site.edge);
  socket.write(get("/large.txt"));
  await eventually(() => expect(received().length).toBeGreaterThan(200_000));
  await logged(site, "access", 1);
  socket.write(get("/small.txt", "Connection: close\r\n"));
  const sizes = (await logged(site, "access", 2)).map((line) => Number(/" 200 (\d+) /.exec(line)?.[1]));
  expect(sizes[0]).toBeGreaterThan(200_000);
  expect(sizes[0]).toBeLessThan(201_000);
  expect(sizes[1]).toBeLessThan(1_000);
});

test("requests for unknown hosts and malformed requests are in no access log", async () => {
  const site = await startSite();
  await ask(site.edge, "/", { host: "unknown.localhost" });
  await sendRaw(site.edge, "nonsense\r\n\r\n");
  await ask(site.edge, "/here");
  expect((await logged(site, "access", 1))[0]).toContain("GET /here");
  expect(await readdir(path.join(site.folder, "logs"))).toEqual(["one"]);
});

test("requests from PHP of the installation are marked", async () => {
  const site = await startSite();
  await ask(site.edge, "/", { php: site.edge.loopbackSocket });
  expect((await logged(site, "access", 1))[0]).toMatch(/^127\.0\.0\.1 - php \[/);
});

test("the status is 499 if the visitor leaves before the response", async () => {
  const site = await startSite();
  const asked = Promise.withResolvers<void>();
  site.upstream.answer = async ({ signal }) => {
    asked.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw new FakeNoAnswer("crashed");
  };
  const visitor = connect(site.edge.port, "127.0.0.1");
  visitor.write("POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: 0\r\n\r\n");
  await asked.promise;
  visitor.destroy();
  const [line] = await logged(site, "access", 1);
  expect(line).toMatch(/^127\.0\.0\.1 - - \[.* "POST \/ HTTP\/1\.1" 499 0 /);
});

test("the address is logged even if the visitor leaves in the middle of a file", async () => {
  const site = await startSite({ "large.bin": Buffer.alloc(50_000_000) });
  const { socket, received } = openRaw(site.edge);
  socket.write("GET /large.bin HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  await eventually(() => expect(received().length).toBeGreaterThan(1_000));
  socket.destroy();
  expect((await logged(site, "access", 1))[0]).toMatch(/^127\.0\.0\.1 - - \[/);
});

test.each([
  ["deadline", "deadline, it exceeded the time limit and was stopped"],
  ["crashed", "crashed, it stopped unexpectedly"],
  ["busy", "busy, too many other requests were waiting"],
])("a failure of PHP is in the error log with method and URL: %s", async (reason, text) => {
  const site = await startSite();
  site.upstream.answer = () => {
    throw new FakeNoAnswer(reason);
  };
  await ask(site.edge, "/page?token=abc");
  const [line = ""] = await logged(site, "error", 1);
  expect(line).toMatch(/^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] PHP did not complete GET \/page\?token=\*\*\*: /);
  expect(line.endsWith(text)).toBe(true);
  expect(line).not.toContain("secret");
});

test("an incomplete response of PHP is in the error log", async () => {
  const site = await startSite();
  site.upstream.answer = () => {
    const body = new Readable({ read: () => undefined });
    body.push("the beginning");
    setImmediate(() => body.destroy(new FakeNoAnswer("deadline")));
    return { ...textAnswer(""), body };
  };
  await ask(site.edge, "/").catch(() => undefined);
  expect((await logged(site, "error", 1))[0]).toContain("GET /: deadline");
});

test("a log that can't be written does not affect visitors", async () => {
  const site = await startSite({ "a.txt": "a" });
  await writeFile(path.join(site.folder, "logs"), "in the way");
  for (let number = 0; number < 20; number += 1) expect((await ask(site.edge, "/a.txt")).body).toBe("a");
});

test("waiting lines are written when the edge is closed", async () => {
  const site = await startSite({ "a.txt": "a" });
  await ask(site.edge, "/a.txt");
  await site.edge.close(0);
  await logged(site, "access", 1);
});
