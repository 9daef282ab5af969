/** Processes of PHP that die or can't start, and environments that are removed meanwhile. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import { sharedAssets } from "../playground/testing/world.ts";
import { closeEnvironmentGroups, environmentGroupsOf } from "../processor/environments.ts";
import type { PhpRequest, ServedEnvironment } from "../serving.ts";
import { addScript, outcomeOf, type Site, visitorOf } from "../testing/visitor.ts";
import { commandLineOf, descendantsOf, killIfAlive } from "./processTree.ts";
import type { ServingCall } from "./testing/servingChild.ts";
import { type NativeWorld, openNative } from "./testing/world.ts";
import { inspectRoots, machineRoot } from "./versions/discovery.ts";
import type { PhpInstallation } from "./versions/installation.ts";

let world: NativeWorld;
let site: Site;
let served: ServedEnvironment;
let machinePhp: PhpInstallation;

beforeAll(async () => {
  world = await openNative();
  const { offered } = await inspectRoots([machineRoot]);
  if (offered[0] === undefined) throw new Error("There is no PHP.");
  machinePhp = offered[0];
  site = await world.site();
  const layout = await world.runtime.layout(site.environment);
  if (layout === null) throw new Error("There is no environment.");
  served = { ...site.environment, ...layout, phpVersion: site.phpVersion };
  await addScript(site, "hello.php", "echo 'hello';");
  await addScript(
    site,
    "slow.php",
    "touch( '/site/started' ); while ( ! file_exists( '/site/go-on' ) ) { usleep( 1000 ); clearstatcache(); }",
  );
  await addScript(site, "half.php", "echo str_repeat( 'x', 100000 ); flush(); sleep( 1000 );");
});
afterAll(() => world?.close());

const runFolder = () => path.join(path.dirname(world.environments), "run/p");
const leftovers = async () => (await readdir(runFolder()).catch(() => [])).length;
const sandboxes = () => descendantsOf(process.pid).filter((pid) => commandLineOf(pid).startsWith("bwrap "));

/** php-fpm's masters below a process: their parents are not php-fpm. */
function masters(below = process.pid): readonly number[] {
  const all = descendantsOf(below).filter((pid) => commandLineOf(pid).startsWith("php-fpm"));
  const children = new Set(all.flatMap(descendantsOf));
  return all.filter((pid) => !children.has(pid));
}

/** `before`: the masters that there were. Code may have been compiled by one of them. Linux may miss a child while another one ends. */
const expectNoOtherMaster = (before: readonly number[]) =>
  expect.poll(() => masters().filter((pid) => !before.includes(pid))).toEqual([]);

const get = (url: string, changes: Partial<PhpRequest> = {}) => visitorOf(world.serving, site).get(url, changes);
const hello = async (changes: Partial<PhpRequest> = {}) =>
  expect((await get("/hello.php", changes)).text).toBe("hello");

/** Requests a script that waits. Returns the outcomes when one has begun. */
async function beginSlow(...all: readonly Partial<PhpRequest>[]): Promise<readonly Promise<string | number>[]> {
  await rm(path.join(site.documentRoot, "started"), { force: true });
  const outcomes = all.map((changes) => outcomeOf(get("/slow.php", changes)));
  await expect.poll(() => existsSync(path.join(site.documentRoot, "started"))).toBe(true);
  return outcomes;
}

function killAll(processes: readonly number[]): void {
  for (const pid of processes) killIfAlive(pid);
}

/** Ends all PHP, as when nobody has visited the sites for long. */
async function endAllPhp(): Promise<void> {
  await world.serving.setEnvironments([]);
  expect(sandboxes()).toEqual([]);
  await world.serving.setEnvironments([served]);
}

describe("a child", () => {
  test("that is killed before its first byte fails its request only", async () => {
    const [outcome] = await beginSlow({});
    const before = masters();
    killAll(before.flatMap(descendantsOf));
    expect(await outcome).toBe("crashed");
    await hello();
    await expectNoOtherMaster(before);
  });

  test("that is killed after its first byte breaks off its response", async () => {
    const request = exampleRequest(site.wordpress.address, { url: "/half.php", script: "/half.php" });
    const response = await world.serving.handle(site.environment.id, request);
    const before = masters();
    killAll(before.flatMap(descendantsOf));
    await expect(text(response.body)).rejects.toMatchObject({ reason: "crashed" });
    await response.finished;
    await hello();
    await expectNoOtherMaster(before);
  });

  test("whose script exceeds its time is replaced, and php-fpm stays although nothing else runs", async () => {
    await hello();
    const before = masters();
    const children = before.flatMap(descendantsOf);
    for (const _ of [1, 2, 3]) {
      expect(await outcomeOf(get("/slow.php", { deadlineSeconds: 0.2 }))).toBe("deadline");
      await hello();
    }
    await expectNoOtherMaster(before);
    expect(before.flatMap(descendantsOf)).not.toEqual(children);
  });

  test("whose successor fails too is not trusted: php-fpm is replaced", async () => {
    await hello();
    const before = masters();
    for (const _ of [1, 2]) expect(await outcomeOf(get("/slow.php", { deadlineSeconds: 0.2 }))).toBe("deadline");
    await hello();
    await expect.poll(() => masters().filter((pid) => before.includes(pid))).toEqual([]);
  });

  test("that has died takes no request with it when php-fpm dies afterwards", async () => {
    await hello();
    expect(await outcomeOf(get("/slow.php", { deadlineSeconds: 0.2 }))).toBe("deadline");
    killAll(masters());
    await expect.poll(sandboxes).toEqual([]);
    await hello();
    await endAllPhp();
    expect(await leftovers()).toBe(0);
  });
});

describe("a master", () => {
  test.each([false, true])("that is killed while it is idle is replaced (read-only: %s)", async (isReadOnly) => {
    await hello({ isReadOnly });
    killAll(masters());
    await expect.poll(sandboxes).toEqual([]);
    await hello({ isReadOnly });
    await endAllPhp();
    expect(await leftovers()).toBe(0);
  });

  test("that is killed in the middle of requests fails these only", async () => {
    const outcomes = await beginSlow({}, {});
    await expect.poll(() => descendantsOf(masters()[0] ?? 0).length).toBe(2);
    killAll(masters());
    expect(await Promise.all(outcomes)).toEqual(["crashed", "crashed"]);
    await hello();
    await endAllPhp();
    expect(await leftovers()).toBe(0);
  });

  test("that is killed while it starts leaves nothing", async () => {
    await endAllPhp();
    const first = outcomeOf(get("/hello.php"));
    await expect.poll(sandboxes, { interval: 1 }).not.toEqual([]);
    killAll(sandboxes());
    expect([200, "unavailable"]).toContain(await first);
    await hello();
    await endAllPhp();
    expect(await leftovers()).toBe(0);
  });
});

describe("an environment", () => {
  test("that is removed while its scripts run has no process when it is gone", async () => {
    const outcomes = await beginSlow({}, { isReadOnly: true }, { isReadOnly: true });
    await expect.poll(() => masters().length).toBe(2);
    await world.serving.setEnvironments([]);
    expect(sandboxes()).toEqual([]);
    expect(await Promise.all(outcomes)).not.toContain(200);
    expect(sandboxes()).toEqual([]);
    expect(await leftovers()).toBe(0);
    await world.serving.setEnvironments([served]);
    await hello();
  });

  test("that can't start is unavailable, and leaves nothing", async () => {
    const program = { root: "/", fpm: "/usr/sbin/no-fpm", php: "/usr/bin/php", extensions: [] };
    const broken = await openNative({ phpOf: () => program });
    onTestFinished(() => broken.close());
    const sites = await Promise.all(Array.from({ length: 10 }, () => broken.site()));
    const outcomes = sites.map((each) => outcomeOf(visitorOf(broken.serving, each).get("/")));
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["unavailable"]));
    const [first] = sites;
    if (first)
      expect(await outcomeOf(visitorOf(broken.serving, first).get("/", { isReadOnly: true }))).toBe("unavailable");
    expect(await readdir(path.join(path.dirname(broken.environments), "run/p"))).toEqual([]);
  });

  test("that starts too slowly for a request ends it, and the next one is answered", async () => {
    const slow = await openNative({ phpOf: () => ({ ...machinePhp, fpm: "/site/slow-fpm" }) });
    onTestFinished(() => slow.close());
    const its = await slow.site();
    const program = path.join(its.documentRoot, "slow-fpm");
    const wait = "while [ ! -e /site/begin ]; do sleep 0.01; done";
    await writeFile(program, `#!/bin/sh\n${wait}\nexec ${machinePhp.fpm} "$@"\n`, { mode: 0o755 });
    await addScript(its, "hello.php", "echo 'hello';");
    const visitor = visitorOf(slow.serving, its);
    const outcome = outcomeOf(visitor.get("/hello.php", { deadlineSeconds: 0.1 }));
    await expect.poll(() => slow.serving.usage()[0]?.killedForTime).toBe(1);
    await writeFile(path.join(its.documentRoot, "begin"), "");
    expect(await outcome).toBe("deadline");
    expect((await visitor.get("/hello.php")).text).toBe("hello");
  });

  test("whose release folder vanishes while PHP runs is removed like any other", async () => {
    const its = await world.site();
    await addScript(its, "vanish.php", "echo 'there';");
    const visitor = visitorOf(world.serving, its);
    expect((await visitor.get("/vanish.php")).text).toBe("there");
    await rm(path.join(world.environments, its.environment.id), { recursive: true });
    // 500 if the script was compiled before: PHP then looks for it later.
    expect([404, 500]).toContain(await outcomeOf(visitor.get("/vanish.php")));
    expect(await outcomeOf(visitor.get("/vanish.php", { isReadOnly: true }))).toBe("unavailable");
    await endAllPhp();
    expect(await leftovers()).toBe(0);
  });
});

test("a thousand visitors who leave early leave nothing behind", async () => {
  await hello();
  await endAllPhp();
  const descriptors = async () => (await readdir("/proc/self/fd")).length;
  const before = await descriptors();
  const visits = Array.from({ length: 1_000 }, async (_, index) => {
    const stop = new AbortController();
    const request = exampleRequest(site.wordpress.address, {
      url: "/hello.php",
      script: "/hello.php",
      signal: stop.signal,
    });
    const response = world.serving.handle(site.environment.id, request);
    if (index % 2 === 0) stop.abort();
    await response.then(
      ({ body }) => body.destroy(),
      () => undefined,
    );
    stop.abort();
  });
  await Promise.all(visits);
  await hello();
  await endAllPhp();
  await expect.poll(descriptors).toBe(before);
});

describe("a serving process that is killed", () => {
  test("leaves no process of PHP, and the next one serves", async () => {
    await endAllPhp();
    const run = path.join(path.dirname(world.environments), "run/killed");
    const child = fork(fileURLToPath(new URL("./testing/servingChild.ts", import.meta.url)), { execArgv: [] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const places = { assets: sharedAssets, environments: world.environments, run, data: path.dirname(run) };
    await rm(path.join(site.documentRoot, "started"), { force: true });
    child.send({ ...places, php: machinePhp, environment: served, script: "/slow.php" } satisfies ServingCall);
    await expect.poll(() => existsSync(path.join(site.documentRoot, "started"))).toBe(true);
    await expect.poll(() => masters(child.pid).length).toBe(2);
    const processes = descendantsOf(child.pid ?? 0);
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    await expect.poll(() => processes.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    // As at the next start.
    await rm(run, { recursive: true });
    await closeEnvironmentGroups(path.dirname(run));
    expect(environmentGroupsOf(path.dirname(run), process.pid)).toEqual({ memory: false, pids: false });
    await hello();
    await hello({ isReadOnly: true });
  });
});
