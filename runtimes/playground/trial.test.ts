/** Trials of releases before they are served: visitors notice nothing, and find a running worker after the switch. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { exampleRequest, exampleSpec } from "../conformance.ts";
import type { ServedEnvironment } from "../serving.ts";
import { addPlain, addRelease, servedAs } from "./testing/handMade.ts";
import { leaveScript, outcomeOf, runPhp, type Site, visitorOf } from "./testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

const address = "http://trial.localhost:8081";
const waiting = { timeout: 90_000, interval: 10 };

let world: Playground;
let site: Site;
let served: ServedEnvironment;
beforeAll(async () => {
  world = await openPlayground({ maxWorkers: 3 });
}, 120_000);
afterAll(() => world?.close());

const workersOf = (id: string, { serving } = world) =>
  serving.status().workers.filter((worker) => worker.environmentId === id);

async function runTrial(environment: ServedEnvironment, url = "/", { serving } = world, at = address) {
  const script = url === "/" ? "/index.php" : url;
  const { status, body, errors } = await serving.runTrial(environment, exampleRequest(at, { url, script }));
  return { status, text: await text(body), errors: await errors };
}

describe("a site's next release", () => {
  beforeEach(async () => {
    site = await world.site();
    await leaveScript(site, "which.php", "echo basename(__DIR__), ' first';");
    served = await servedAs(world, site);
    await world.serving.setEnvironments([served]);
  });

  async function nextRelease(release = 2): Promise<ServedEnvironment> {
    const next = await addRelease(world, site, release);
    await leaveScript({ ...site, documentRoot: next.documentRoot }, "which.php", `echo 'release ${release}';`);
    return next;
  }

  test("can be requested while visitors still get the current one", async () => {
    const next = await nextRelease();
    expect(await runTrial(next, "/which.php")).toEqual({ status: 200, text: "release 2", errors: "" });
    expect((await visitorOf(world.serving, site).get("/which.php")).text).toBe("site first");
    expect((await runTrial(next)).text).toMatch(/<\/html>\s*$/);
  });

  test("keeps its trial worker when it is served", async () => {
    const next = await nextRelease();
    await runTrial(next, "/which.php");
    const [candidate] = workersOf(site.environment.id);
    await world.serving.setEnvironments([next]);
    expect((await visitorOf(world.serving, site).get("/which.php")).text).toBe("release 2");
    expect(workersOf(site.environment.id)).toMatchObject([{ pid: candidate?.pid, release: 2, requests: 2 }]);
  });

  test("loses its worker when another release is tried", async () => {
    const [second, third] = [await nextRelease(2), await nextRelease(3)];
    await runTrial(second, "/which.php");
    expect((await runTrial(third, "/which.php")).text).toBe("release 3");
    expect(workersOf(site.environment.id)).toMatchObject([{ release: 3 }]);
    await world.serving.setEnvironments([second]);
    expect((await visitorOf(world.serving, site).get("/which.php")).text).toBe("release 2");
  });

  test("loses its worker when its site is removed", async () => {
    await runTrial(await nextRelease(), "/which.php");
    await world.serving.setEnvironments([]);
    expect(workersOf(site.environment.id)).toEqual([]);
  });

  test("that is already served is tried with the visitors' worker", async () => {
    await runPhp(world.serving, site, "echo 1;");
    expect((await runTrial(served, "/which.php")).text).toBe("site first");
    expect(workersOf(site.environment.id)).toMatchObject([{ requests: 2 }]);
  });

  test("with a plugin that has a syntax error names it in the trial and not to visitors", async () => {
    const plugins = path.join(site.documentRoot, "wp-content/mu-plugins");
    await mkdir(plugins, { recursive: true });
    await writeFile(path.join(plugins, "broken.php"), "<?php function {");
    const next = await addRelease(world, site, 2);
    const trial = await runTrial(next);
    expect(trial.status).toBe(500);
    expect(trial.errors).toMatch(/PHP Parse error: .*mu-plugins\/broken\.php/);
    const answer = await world.serving.handle(site.environment.id, exampleRequest(address));
    expect(await text(answer.body)).not.toContain("broken.php");
  });

  test("that logs much returns only the beginning of its log", async () => {
    await leaveScript(site, "log.php", "for ($i = 0; $i < 100; $i++) error_log(\"line $i \" . str_repeat('ä', 200));");
    const { errors } = await runTrial(await addRelease(world, site, 2), "/log.php");
    expect(errors).toContain("line 0");
    expect(Buffer.byteLength(errors)).toBeLessThanOrEqual(4096);
    expect(Buffer.byteLength(errors)).toBeGreaterThan(4090);
    expect(errors).not.toContain("\uFFFD");
  });

  test("that does not exist is unavailable", async () => {
    const request = exampleRequest(address);
    expect(await outcomeOf(world.serving.runTrial({ ...served, release: 9 }, request))).toBe("unavailable");
    expect(await outcomeOf(world.serving.runTrial({ ...served, phpVersion: "4.0" }, request))).toBe("crashed");
  });
});

test.each([
  ["its own files and another site's database", { files: "none", database: "all" }, "Source"],
  ["another site's files and its own database", { files: "all", database: "none" }, "Target"],
] as const)("a release with %s works before and after the switch", async (_what, parts, title) => {
  const [source, target] = [await world.site({ title: "Source" }), await world.site({ title: "Target" })];
  const addresses = [{ from: source.wordpress.address, to: target.wordpress.address }];
  const { environment } = target;
  await world.runtime.stage({ environment, token: "push-1", source: source.environment, ...parts, addresses });
  const layout = await world.runtime.staged(environment, "push-1");
  if (layout === null) throw new Error("Nothing is staged.");
  const next = { ...environment, ...layout, phpVersion: target.phpVersion };
  const trial = await runTrial(next, "/", world, target.wordpress.address);
  expect(trial).toMatchObject({ status: 200, errors: "" });
  expect(trial.text).toContain(`<title>${title}`);
  expect((await visitorOf(world.serving, target).get("/")).text).toContain("<title>Target");
  await world.runtime.switchTo(environment, "push-1");
  const now = await servedAs(world, target);
  expect(now).toEqual(next);
  await world.serving.setEnvironments([now]);
  expect((await visitorOf(world.serving, target).get("/")).text).toContain(`<title>${title}`);
  expect(workersOf(environment.id)).toMatchObject([{ release: next.release, requests: 2 }]);
});

describe("an environment that was never served", () => {
  let plain: ServedEnvironment;
  beforeEach(async () => {
    const { environment } = exampleSpec();
    plain = await addPlain(world, environment, { "index.php": "<?php echo getmypid(), PHP_VERSION;" });
  });

  test("can be tried, and keeps its worker when other environments change", async () => {
    expect((await runTrial(plain)).text).toContain("8.3.");
    const [candidate] = workersOf(plain.id);
    await world.serving.setEnvironments([]);
    expect(workersOf(plain.id)).toMatchObject([{ pid: candidate?.pid }]);
    const request = exampleRequest(address);
    expect(await outcomeOf(world.serving.handle(plain.id, request))).toBe("unavailable");
    await world.serving.setEnvironments([plain]);
    expect(await outcomeOf(world.serving.handle(plain.id, request))).toBe(200);
    expect(workersOf(plain.id)).toMatchObject([{ pid: candidate?.pid, requests: 2 }]);
  });

  test("loses its worker after a while", async () => {
    const hasty = await openPlayground({ candidateSeconds: 0.5 });
    onTestFinished(() => hasty.close());
    const { environment } = exampleSpec();
    const other = await addPlain(hasty, environment, { "index.php": "<?php sleep(1); echo 'slept';" });
    expect((await runTrial(other, "/", hasty)).text).toBe("slept");
    await vi.waitUntil(() => workersOf(other.id, hasty).length === 0, waiting);
  });

  test("waits for a free worker like any visitor", async () => {
    const small = await openPlayground({ maxWorkers: 1 });
    onTestFinished(() => small.close());
    const busy = await small.site();
    await leaveScript(busy, "slow.php", "usleep(500000); echo 'done';");
    const slow = visitorOf(small.serving, busy).get("/slow.php");
    await vi.waitUntil(() => workersOf(busy.environment.id, small).some((worker) => worker.busy), waiting);
    const { environment } = exampleSpec();
    const other = await addPlain(small, environment, { "index.php": "<?php echo 'tried';" });
    expect((await runTrial(other, "/", small)).text).toBe("tried");
    expect((await slow).text).toBe("done");
    expect(small.serving.status().workers).toHaveLength(1);
  });

  test("is unavailable after the serving side is closed", async () => {
    const closed = await openPlayground();
    await closed.close();
    expect(await outcomeOf(closed.serving.runTrial(plain, exampleRequest(address)))).toBe("unavailable");
  });
});

test("a new PHP run of an environment is served by new processes", async () => {
  site = await world.site();
  served = await servedAs(world, site);
  await runPhp(world.serving, site, "echo 1;");
  const [before] = workersOf(site.environment.id);
  await world.serving.setEnvironments([Object.assign({ phpRestarts: 1 }, served)]);
  expect(workersOf(site.environment.id)).toEqual([]);
  await runPhp(world.serving, site, "echo 1;");
  expect(workersOf(site.environment.id).map(({ pid }) => pid)).not.toContain(before?.pid);
});

test("a switch to another PHP version after a trial loses no request of continuous visitors", async () => {
  site = await world.site();
  served = await servedAs(world, site);
  await world.serving.setEnvironments([served]);
  await leaveScript(site, "version.php", "usleep(20000); echo PHP_MAJOR_VERSION, '.', PHP_MINOR_VERSION;");
  const seen: string[] = [];
  let isOver = false;
  async function comeBack(): Promise<void> {
    while (!isOver) seen.push((await visitorOf(world.serving, site).get("/version.php")).text);
  }
  const streams = Promise.all([1, 2, 3, 4].map(comeBack));
  await vi.waitUntil(() => seen.length > 20, waiting);
  const next = { ...served, phpVersion: "8.2" };
  expect((await runTrial(next, "/version.php")).text).toBe("8.2");
  const before = seen.length;
  await vi.waitUntil(() => seen.length > before + 20, waiting);
  expect(new Set(seen)).toEqual(new Set(["8.3"]));
  await world.serving.setEnvironments([next]);
  const switched = seen.length;
  await vi.waitUntil(() => seen.length > switched + 40, waiting);
  isOver = true;
  await streams;
  expect(seen.slice(switched + 4).filter((version) => version !== "8.2")).toEqual([]);
  expect(workersOf(site.environment.id).length).toBeLessThanOrEqual(2);
});
