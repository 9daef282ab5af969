import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { FakeNoAnswer, textAnswer } from "../testing/fakeUpstream.ts";
import { ask } from "../testing/http.ts";
import { type EdgeWorld, makeEnvironment, startSite, writeFiles } from "../testing/withEdge.ts";
import type { UpstreamResponse } from "./upstream.ts";

const quiet = { errors: "", reason: null, location: null };

function post(edge: EdgeWorld["edge"], body: object | string) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return ask(edge, "/try", { socketPath: edge.adminSocket, method: "POST", body: text });
}

/** Sends a test request to another release of the site, with these files. */
async function runTrial(
  { edge, folder }: EdgeWorld,
  files: Readonly<Record<string, string>>,
  url = "/",
  isReadOnly = false,
  more: object = {},
) {
  const root = `${folder}/next`;
  await writeFiles(root, files);
  const environment = makeEnvironment(root, { release: 2, phpVersion: "8.4" });
  const got = await post(edge, { environment, host: "site.localhost:8081", url, isReadOnly, ...more });
  expect(got.status).toBe(200);
  return JSON.parse(got.body);
}

const page = (
  body: Readable | string,
  errors = "",
  status = 200,
): Omit<UpstreamResponse, "finished" | "isCacheable" | "tags"> => ({
  status,
  headers: [["Content-Type", "text/html"]],
  body: typeof body === "string" ? Readable.from([Buffer.from(body)]) : body,
  errors: Promise.resolve(errors),
});

test("a test request runs in the given environment, not in the served one", async () => {
  const world = await startSite();
  world.upstream.trial = () => page("<html>fine</html>\n");
  const files = { "index.php": "<?php", "tool.php": "<?php" };
  expect(await runTrial(world, files, "/tool.php/info?a=1")).toEqual({ ...quiet, status: 200, isComplete: true });
  expect(world.upstream.asked).toEqual([]);
  expect(world.upstream.tried).toMatchObject([
    {
      environment: { id: "one", release: 2, phpVersion: "8.4", documentRoot: `${world.folder}/next` },
      request: {
        method: "GET",
        url: "/tool.php/info?a=1",
        script: "/tool.php",
        pathInfo: "/info",
        headers: { host: "site.localhost:8081" },
        body: null,
        fromPhp: false,
      },
    },
  ]);
});

test("a test request on a full disk says so", async () => {
  const world = await startSite();
  world.upstream.trial = () => Promise.reject(new FakeNoAnswer("diskFull"));
  expect(await runTrial(world, { "index.php": "" }, "/")).toMatchObject({ status: 0, reason: "diskFull" });
});

test("a read-only test request reports attempts to write", async () => {
  const world = await startSite();
  world.upstream.trial = () => Promise.reject(new FakeNoAnswer("wouldWrite"));
  const trial = await runTrial(world, { "index.php": "" }, "/", true);
  expect(world.upstream.tried).toMatchObject([{ request: { isReadOnly: true } }]);
  expect(trial).toMatchObject({ status: 0, reason: "wouldWrite" });
});

test("the environment need not be in the table", async () => {
  const world = await startSite();
  const environment = makeEnvironment(world.root, { id: "unknown", number: 9 });
  const order = { environment, host: "unknown.localhost", url: "/", isReadOnly: false };
  await post(world.edge, order);
  await post(world.edge, { ...order, environment: { ...environment, isOffline: true } });
  expect(world.upstream.tried).toMatchObject([
    { environment: { id: "unknown", isOffline: false }, request: { script: "/index.php" } },
    { environment: { id: "unknown", isOffline: true } },
  ]);
});

test.each([
  ["<html></html>", true],
  ["<html></HTML> \n\t\r\n", true],
  ["<html></html>\n<!-- Kept since\n12:00 --> <!-- And more -->\n", true],
  ["<html></html><!-- half", false],
  ["<html></html><p>more", false],
  ["<html>half", false],
  ["", false],
])("the body %j ends like a page: %s", async (body, isComplete) => {
  const world = await startSite();
  world.upstream.trial = () => page(body);
  expect(await runTrial(world, { "index.php": "" })).toEqual({ ...quiet, status: 200, isComplete });
});

test("the end of a page is recognised across chunks", async () => {
  const world = await startSite();
  const pieces = ["<html>".padEnd(100_000, "x"), "</ht", "ml", ">", "\n"];
  world.upstream.trial = () => page(Readable.from(pieces.map((piece) => Buffer.from(piece))));
  expect(await runTrial(world, { "index.php": "" })).toMatchObject({ isComplete: true });
});

test("the body is returned on request, for PHP and for files", async () => {
  const world = await startSite();
  world.upstream.trial = () => page("<html>fïne</html>");
  const files = { "index.php": "", "a/style.css": "body {}" };
  const more = { wantsContent: true };
  const php = await runTrial(world, files, "/", false, more);
  expect(php.content).toEqual({ type: "text/html", base64: Buffer.from("<html>fïne</html>").toString("base64") });
  const { content } = await runTrial(world, files, "/a/style.css", false, more);
  expect(content).toEqual({ type: "text/css", base64: Buffer.from("body {}").toString("base64") });
  world.upstream.trial = () => page(" ".repeat(10_000_001));
  expect((await runTrial(world, files, "/", false, more)).content.base64).toBe("");
});

test("PHP sees whether the request uses HTTPS", async () => {
  const world = await startSite();
  await runTrial(world, { "index.php": "" });
  await runTrial(world, { "index.php": "" }, "/", false, { isHttps: true });
  expect(world.upstream.tried.map(({ request }) => request.https)).toEqual([false, true]);
});

test("an endless body is not read to the end", async () => {
  const world = await startSite();
  const endless = new Readable({
    read() {
      this.push(Buffer.alloc(1 << 20, " "));
    },
  });
  world.upstream.trial = () => page(endless);
  expect(await runTrial(world, { "index.php": "" })).toMatchObject({ status: 200, isComplete: false, reason: null });
  expect(endless.destroyed).toBe(true);
});

test("returns PHP's log output and status", async () => {
  const world = await startSite();
  world.upstream.trial = () => page("<html></html>", "PHP Parse error: …", 500);
  const errors = "PHP Parse error: …";
  expect(await runTrial(world, { "index.php": "" })).toEqual({ ...quiet, status: 500, isComplete: true, errors });
});

test("redirects of PHP and of folders are returned, not followed", async () => {
  const world = await startSite();
  const location = "http://site.localhost:8081/wp-admin/install.php";
  world.upstream.trial = () => ({ ...textAnswer("", [["Location", location]], 302), errors: Promise.resolve("") });
  const files = { "index.php": "", "shop/index.php": "" };
  expect(await runTrial(world, files)).toEqual({ ...quiet, status: 302, isComplete: false, location });
  expect(await runTrial(world, files, "/shop")).toEqual({
    ...quiet,
    status: 301,
    isComplete: false,
    location: "/shop/",
  });
  expect(world.upstream.tried).toHaveLength(1);
});

test("files and 404s need no PHP", async () => {
  const world = await startSite();
  const files = { "page/index.html": "<html></html>", "wp-config.php": "secret" };
  expect(await runTrial(world, files, "/page/")).toEqual({ ...quiet, status: 200, isComplete: true });
  expect(await runTrial(world, files, "/wp-config.php")).toEqual({ ...quiet, status: 404, isComplete: false });
});

test.each(["busy", "deadline", "crashed", "unavailable"])(
  "a failure of PHP is returned with its reason: %s",
  async (reason) => {
    const world = await startSite();
    world.upstream.trial = () => Promise.reject(new FakeNoAnswer(reason));
    expect(await runTrial(world, { "index.php": "" })).toEqual({ ...quiet, status: 0, isComplete: false, reason });
  },
);

test("a response that is cut off counts as a failure, with PHP's log output", async () => {
  const world = await startSite();
  world.upstream.trial = () => {
    const body = new PassThrough();
    body.write("<html>");
    setImmediate(() => body.destroy(new FakeNoAnswer("deadline")));
    return page(body, "PHP Warning: slow");
  };
  const expected = { ...quiet, status: 0, isComplete: false, reason: "deadline", errors: "PHP Warning: slow" };
  expect(await runTrial(world, { "index.php": "" })).toEqual(expected);
});

test("PHP is told when the caller has gone", async () => {
  const world = await startSite();
  world.upstream.trial = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new FakeNoAnswer("unavailable"))));
  const trial = runTrial(world, { "index.php": "" });
  trial.catch(() => undefined);
  await eventually(() => expect(world.upstream.tried).toHaveLength(1));
  await world.edge.close(0);
  await eventually(() => expect(world.upstream.tried[0]?.request.signal.aborted).toBe(true));
});

const environment = makeEnvironment("/srv/a");
test.each([
  ["{", "JSON"],
  ["7", "input: "],
  [JSON.stringify({ host: "a", url: "/" }), "environment: "],
  [JSON.stringify({ environment: { ...environment, release: "1" }, host: "a", url: "/" }), "environment.release"],
  [JSON.stringify({ environment, url: "/" }), "host: "],
  [JSON.stringify({ environment, host: "a b", url: "/" }), "host: expected"],
  [JSON.stringify({ environment, host: "a", url: "http://a/" }), "url: expected"],
  [JSON.stringify({ environment, host: "a", url: "/../x" }), "url: expected"],
])("an invalid order is refused with the name of the field: %s", async (body, message) => {
  const { edge, upstream } = await startSite();
  const got = await post(edge, body);
  expect(got.status).toBe(400);
  expect(JSON.parse(got.body).message).toContain(message);
  expect(upstream.tried).toEqual([]);
});
