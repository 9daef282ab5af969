import { existsSync } from "node:fs";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { FakeNoAnswer, textAnswer } from "../testing/fakeUpstream.ts";
import { freeze, watch } from "../testing/freezing.ts";
import { ask } from "../testing/http.ts";
import { logged } from "../testing/logged.ts";
import { type EdgeWorld, limits, makeFolder, startSite } from "../testing/withEdge.ts";
import type { UpstreamRequest } from "./upstream.ts";

const order = { environmentId: "one", host: "site.localhost:8081", task: "describe", deadlineSeconds: 5 };
const quiet = { errors: "", reason: null };

async function post({ edge }: EdgeWorld, body: object | string) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return ask(edge, "/task", { socketPath: edge.adminSocket, method: "POST", body: text });
}

async function run(world: EdgeWorld, changes: object = {}) {
  const got = await post(world, { ...order, ...changes });
  expect(got.status).toBe(200);
  return JSON.parse(got.body);
}

/** The mark around the result. */
function markOf({ task }: UpstreamRequest): string {
  return JSON.parse(task?.input ?? "{}").mark;
}

/** A task's result between its marks, with other output around it. */
const taskResult =
  (json: string, before = "", after = "") =>
  (request: UpstreamRequest) =>
    textAnswer(`${before}${markOf(request)}${json}${markOf(request)}${after}`);

test("a task runs with its input and the environment's host, and its result is returned", async () => {
  const world = await startSite();
  world.upstream.answer = taskResult('{"a":1}');
  expect(await run(world, { input: { email: "o'hara\\@example.com" } })).toEqual({
    ...quiet,
    status: 200,
    body: '{"a":1}',
  });
  const [asked] = world.upstream.asked;
  expect(asked).toMatchObject({
    environmentId: "one",
    request: {
      method: "GET",
      script: "/index.php",
      headers: { host: "site.localhost:8081" },
      fromPhp: false,
      isReadOnly: false,
      deadlineSeconds: 5,
      task: { name: "describe" },
    },
  });
  expect(JSON.parse(asked?.request.task?.input ?? "").input).toEqual({ email: "o'hara\\@example.com" });
});

test.each([
  ["a task", {}],
  ["a scheduled task", { task: undefined, url: "/wp-cron.php" }],
])("cached pages don't outlive a crash during %s", async (_, changes) => {
  const folder = path.join(await makeFolder(), "pages");
  const pages = { memoryBytes: 1 << 20, disk: { folder, bytes: 1 << 20 } };
  const world = await startSite({ "wp-cron.php": "<?php" }, { edge: { pages } });
  const marker = path.join(folder, "one", "writing");
  world.upstream.answer = (request) => {
    expect(existsSync(marker)).toBe(true);
    return taskResult("{}")(request);
  };
  expect(await run(world, changes)).toMatchObject({ status: 200 });
  await eventually(() => expect(existsSync(marker)).toBe(false));
  world.upstream.answer = () => {
    throw new FakeNoAnswer("crashed");
  };
  await run(world, changes);
  expect(existsSync(marker)).toBe(false);
});

test("other output around the result is removed, and each task has its own mark", async () => {
  const world = await startSite();
  world.upstream.answer = taskResult("{}", '<br>Warning {"a":1}', "<!-- cached -->");
  expect(await run(world)).toMatchObject({ body: "{}" });
  expect(await run(world)).toMatchObject({ body: "{}" });
  const marks = world.upstream.asked.map(({ request }) => markOf(request));
  expect(new Set(marks).size).toBe(2);
  for (const mark of marks) expect(mark).toMatch(/^[0-9a-f]{48}$/);
});

test.each([
  ["a redirect", textAnswer("", [["Location", "/wp-login.php"]], 302), 302],
  ["another page", textAnswer('{"a":1}'), 200],
  ["an error", textAnswer("There has been a critical error", [], 500), 500],
])("there is no result, only a status, if a plugin responds with %s instead", async (_what, answer, status) => {
  const world = await startSite();
  world.upstream.answer = () => ({ ...answer, errors: Promise.resolve("PHP Fatal error: x") });
  expect(await run(world)).toEqual({ status, body: null, errors: "PHP Fatal error: x", reason: null });
});

test("there is no result if it is cut off", async () => {
  const world = await startSite();
  world.upstream.answer = (request) => textAnswer(`${markOf(request)}{"a":`);
  expect(await run(world)).toMatchObject({ status: 200, body: null });
  world.upstream.answer = () => {
    const body = new PassThrough();
    body.write("x");
    setImmediate(() => body.destroy(new FakeNoAnswer("deadline")));
    return { status: 200, headers: [], body, errors: Promise.resolve("slow query") };
  };
  expect(await run(world)).toEqual({ status: 0, body: null, errors: "slow query", reason: "deadline" });
  expect((await logged(world, "error", 1))[0]).toContain("task describe: deadline, it exceeded the time limit");
});

test("a failed script of the site is in the error log, without secrets", async () => {
  const world = await startSite({ "wp-cron.php": "<?php" });
  world.upstream.answer = async () => {
    throw new FakeNoAnswer("crashed");
  };
  const { task: _task, ...rest } = order;
  await post(world, { ...rest, url: "/wp-cron.php?doing_wp_cron&key=abc" });
  const [line] = await logged(world, "error", 1);
  expect(line).toContain("PHP did not complete GET /wp-cron.php?doing_wp_cron&key=***: crashed, ");
});

test.each(["busy", "deadline", "crashed", "unavailable"])(
  "a failure of PHP is returned with its reason: %s",
  async (reason) => {
    const world = await startSite();
    world.upstream.answer = async () => {
      throw new FakeNoAnswer(reason);
    };
    expect(await run(world)).toEqual({ status: 0, body: null, errors: "", reason });
    const [line] = await logged(world, "error", 1);
    expect(line).toContain(`PHP did not complete the platform's task describe: ${reason}, `);
  },
);

test("an environment that is not served is unavailable", async () => {
  expect(await run(await startSite(), { environmentId: "two" })).toMatchObject({ status: 0, reason: "unavailable" });
});

test("long output is read to its end but not kept", async () => {
  const world = await startSite();
  const megabyte = Buffer.alloc(1 << 20, "x");
  world.upstream.answer = () => ({
    status: 200,
    headers: [],
    body: Readable.from(
      (function* () {
        for (let i = 0; i < 64; i += 1) yield megabyte;
      })(),
    ),
  });
  expect(await run(world)).toMatchObject({ status: 200, body: null });
});

test("a script of the site runs as for a visitor, and the start of its output is returned", async () => {
  const world = await startSite({ "wp-cron.php": "<?php" });
  world.upstream.answer = ({ script, url }) => textAnswer(`${script} ${url} ${"x".repeat(100_000)}`);
  const { task: _task, ...rest } = order;
  const result = JSON.parse((await post(world, { ...rest, url: "/wp-cron.php?doing_wp_cron" })).body);
  expect(result.body).toMatch(/^\/wp-cron\.php \/wp-cron\.php\?doing_wp_cron x+$/);
  expect(result.body.length).toBe(65_536);
  expect(world.upstream.asked[0]?.request.task).toBeUndefined();
});

test.each(["/readme.txt", "/.env", "/database/.ht.sqlite"])("other files of the site are not run: %s", async (url) => {
  const world = await startSite({ "readme.txt": "text", ".env": "secret" });
  world.upstream.answer = () => textAnswer("404", [], 404);
  const { task: _task, ...rest } = order;
  const result = JSON.parse((await post(world, { ...rest, url })).body);
  expect(result).toMatchObject({ status: 404 });
});

test("a frozen environment refuses tasks before they start", async () => {
  const world = await startSite();
  await freeze(world, 2);
  expect(await run(world)).toEqual({ status: 0, body: null, errors: "", reason: "frozen" });
  expect(world.upstream.asked).toEqual([]);
});

test("a freeze waits for a running task", async () => {
  const world = await startSite();
  const answering = Promise.withResolvers<void>();
  world.upstream.answer = async (request) => {
    await answering.promise;
    return taskResult("{}")(request);
  };
  const task = run(world);
  await eventually(() => expect(world.upstream.asked.length).toBe(1));
  const frozen = watch(freeze(world, 2));
  expect((await run(world)).reason).toBe("frozen");
  expect(frozen.isSettled()).toBe(false);
  answering.resolve();
  expect(await task).toMatchObject({ body: "{}" });
  await frozen.promise;
});

test("a task that takes too long during a freeze is reported as unfinished", async () => {
  const world = await startSite({}, { edge: { limits: { ...limits, freezeSeconds: 0.05 } } });
  world.upstream.answer = () => new Promise(() => undefined);
  const task = run(world);
  await eventually(() => expect(world.upstream.asked.length).toBe(1));
  await freeze(world, 2);
  expect(await task).toMatchObject({ status: 0, reason: "unfinished" });
});

test("no request shares a page that was started before the task", async () => {
  const world = await startSite();
  const pages: PassThrough[] = [];
  world.upstream.answer = () => {
    const body = new PassThrough();
    pages.push(body);
    return { status: 200, headers: [["Content-Type", "text/html"]], body };
  };
  const before = ask(world.edge, "/");
  await eventually(() => expect(pages.length).toBe(1));
  const task = run(world);
  await eventually(() => expect(pages.length).toBe(2));
  const after = ask(world.edge, "/");
  await eventually(() => expect(pages.length).toBe(3));
  for (const page of pages) page.end("done");
  await Promise.all([before, task, after]);
});

test.each([
  ["{}", "environmentId"],
  [{ ...order, host: "no host" }, "host"],
  [{ ...order, environmentId: 1 }, "environmentId"],
  [{ ...order, task: "../../plugin" }, "task"],
  [{ ...order, task: undefined }, "task"],
  [{ ...order, task: undefined, url: "wp-cron.php" }, "url"],
  [{ ...order, task: undefined, url: "/../wp-cron.php" }, "url"],
  [{ ...order, deadlineSeconds: 0 }, "deadlineSeconds"],
  [{ ...order, deadlineSeconds: 100_000 }, "deadlineSeconds"],
  [{ ...order, deadlineSeconds: "5" }, "deadlineSeconds"],
])("an invalid order is refused with the name of the field: %j", async (body, field) => {
  const got = await post(await startSite(), body);
  expect(got.status).toBe(400);
  expect(JSON.parse(got.body).message).toContain(field);
});
