/** Trials of releases before they are served: visitors notice nothing, and find a running worker after the switch. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { exampleRequest, exampleSpec } from "../conformance/conformance.ts";
import type { ServedEnvironment } from "../serving.ts";
import { addPlain, addRelease, servedAs } from "../testing/handMade.ts";
import { addScript, outcomeOf, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { engine, openWorld, type SiteWorld } from "../testing/world.ts";

const address = "http://trial.localhost:8081";
const waiting = { timeout: 90_000, interval: 10 };

let world: SiteWorld;
let site: Site;
let served: ServedEnvironment;
beforeAll(async () => {
  world = await openWorld({ maxWorkers: 3 });
  site = await world.site();
}, 120_000);
afterAll(() => world?.close());

const workersOf = (id: string, { serving } = world) =>
  serving.status().workers.filter((worker) => worker.environmentId === id);

async function runTrial(environment: ServedEnvironment, url = "/", { serving } = world, at = address) {
  const script = url === "/" ? "/index.php" : url;
  const { status, body, errors } = await serving.runTrial(environment, exampleRequest(at, { url, script }));
  return { status, text: await text(body), errors: await errors };
}

/** These tests share the site's workers, in this order. */
describe("a site's next release", () => {
  let next: ServedEnvironment;
  beforeAll(async () => {
    await addScript(site, "which.php", "echo basename(__DIR__), ' first';");
    served = await servedAs(world, site);
    next = await nextRelease(2);
  });

  async function nextRelease(release: number): Promise<ServedEnvironment> {
    const added = await addRelease(world, site, release);
    await addScript({ ...site, documentRoot: added.documentRoot }, "which.php", `echo 'release ${release}';`);
    return added;
  }

  test("that is already served is tried with the visitors' worker", async () => {
    await runPhp(world.serving, site, "echo 1;");
    expect((await runTrial(served, "/which.php")).text).toBe("site first");
    expect(workersOf(site.environment.id)).toMatchObject([{ requests: 2 }]);
  });

  test("can be requested while visitors still get the current one", async () => {
    expect(await runTrial(next, "/which.php")).toEqual({ status: 200, text: "release 2", errors: "" });
    expect((await visitorOf(world.serving, site).get("/which.php")).text).toBe("site first");
    expect((await runTrial(next)).text).toMatch(/<\/html>\s*$/);
  });

  test("that logs much returns only the beginning of its log", async () => {
    const code = "for ($i = 0; $i < 100; $i++) error_log(\"line $i \" . str_repeat('ä', 200));";
    await addScript({ ...site, documentRoot: next.documentRoot }, "log.php", code);
    const { errors } = await runTrial(next, "/log.php");
    expect(errors).toContain("line 0");
    expect(Buffer.byteLength(errors)).toBeLessThanOrEqual(4096);
    expect(Buffer.byteLength(errors)).toBeGreaterThan(4090);
    expect(errors).not.toContain("\uFFFD");
  });

  test("keeps its trial worker when it is served", async () => {
    await runTrial(next, "/which.php");
    const candidate = workersOf(site.environment.id).find(({ release }) => release === 2);
    await world.serving.setEnvironments([next]);
    expect((await visitorOf(world.serving, site).get("/which.php")).text).toBe("release 2");
    const requests = (candidate?.requests ?? 0) + 1;
    expect(workersOf(site.environment.id)).toMatchObject([{ pid: candidate?.pid, release: 2, requests }]);
  });

  test("with a plugin that has a syntax error names it in the trial and not to visitors", async () => {
    const broken = await nextRelease(3);
    const plugins = path.join(broken.documentRoot, "wp-content/mu-plugins");
    await mkdir(plugins, { recursive: true });
    await writeFile(path.join(plugins, "broken.php"), "<?php function {");
    const trial = await runTrial(broken);
    expect(trial.status).toBe(500);
    expect(trial.errors).toMatch(/PHP Parse error: .*mu-plugins\/broken\.php/);
    await world.serving.setEnvironments([broken]);
    const answer = await world.serving.handle(site.environment.id, exampleRequest(address));
    expect(answer.status).toBe(500);
    expect(await text(answer.body)).not.toContain("broken.php");
  });

  test("loses its worker when another release is tried, and when its site is removed", async () => {
    const [fourth, fifth] = [await nextRelease(4), await nextRelease(5)];
    await runTrial(fourth, "/which.php");
    expect((await runTrial(fifth, "/which.php")).text).toBe("release 5");
    const releases = () => workersOf(site.environment.id).map(({ release }) => release);
    expect(releases()).toEqual([3, 5]);
    await world.serving.setEnvironments([fourth]);
    expect((await visitorOf(world.serving, site).get("/which.php")).text).toBe("release 4");
    expect(releases()).toEqual([5, 4]);
    await world.serving.setEnvironments([]);
    expect(releases()).toEqual([]);
  });

  test("that prints without end is killed when nobody reads on", async () => {
    const sixth = await nextRelease(6);
    const flood = "while (true) { print str_repeat('x', 1 << 16); usleep(1000); }";
    await addScript({ ...site, documentRoot: sixth.documentRoot }, "flood.php", flood);
    const request = exampleRequest(address, { url: "/flood.php", script: "/flood.php", deadlineSeconds: 600 });
    const { body, finished } = await world.serving.runTrial(sixth, request);
    body.destroy();
    await finished;
    await vi.waitUntil(() => workersOf(site.environment.id).length === 0, waiting);
  });

  test("that does not exist is unavailable", async () => {
    const request = exampleRequest(address);
    expect(await outcomeOf(world.serving.runTrial({ ...served, release: 9 }, request))).toBe("unavailable");
    expect(await outcomeOf(world.serving.runTrial({ ...served, phpVersion: "4.0" }, request))).toBe(
      engine === "native" ? "unavailable" : "crashed",
    );
  });
});

describe("a release of parts of two sites", () => {
  let source: Site;
  let target: Site;
  beforeAll(async () => {
    source = await world.site({ title: "Source" });
    target = await world.site({ title: "Target" });
  });

  test.each([
    ["another site's files and its own database", { files: "all", database: "none" }, "Target"],
    ["its own files and another site's database", { files: "none", database: "all" }, "Source"],
  ] as const)("with %s works before and after the switch", async (_what, parts, title) => {
    const addresses = [{ from: source.wordpress.address, to: target.wordpress.address }];
    const { environment } = target;
    const token = `push-${parts.files}`;
    await world.runtime.stage({ environment, token, source: source.environment, ...parts, addresses });
    const layout = await world.runtime.staged(environment, token);
    if (layout === null) throw new Error("Nothing is staged.");
    const next = { ...environment, ...layout, phpVersion: target.phpVersion };
    const trial = await runTrial(next, "/", world, target.wordpress.address);
    expect(trial).toMatchObject({ status: 200, errors: "" });
    expect(trial.text).toContain(`<title>${title}`);
    expect((await visitorOf(world.serving, target).get("/")).text).toContain("<title>Target");
    await world.runtime.switchTo(environment, token);
    const now = await servedAs(world, target);
    expect(now).toEqual(next);
    await world.serving.setEnvironments([now]);
    expect((await visitorOf(world.serving, target).get("/")).text).toContain(`<title>${title}`);
    expect(workersOf(environment.id)).toMatchObject([{ release: next.release, requests: 2 }]);
  });
});

describe("an environment that was never served", () => {
  const addFile = async (to: SiteWorld, code: string) => {
    const environment = await addPlain(to, exampleSpec().environment, { "index.php": `<?php ${code}` });
    return { ...environment, companyId: "company" };
  };

  test("can be tried, and keeps its worker when other environments change", async () => {
    const plain = await addFile(world, "echo getmypid(), PHP_VERSION;");
    expect((await runTrial(plain)).text).toContain(`${world.phpVersion}.`);
    const [candidate] = workersOf(plain.id);
    await world.serving.setEnvironments([]);
    expect(workersOf(plain.id)).toMatchObject([{ pid: candidate?.pid }]);
    const request = exampleRequest(address);
    expect(await outcomeOf(world.serving.handle(plain.id, request))).toBe("unavailable");
    await world.serving.setEnvironments([plain]);
    expect(await outcomeOf(world.serving.handle(plain.id, request))).toBe(200);
    expect(workersOf(plain.id)).toMatchObject([{ pid: candidate?.pid, requests: 2 }]);
  });

  test("waits for a free worker like any visitor, loses it after a while, and is unavailable after the close", async () => {
    const small = await openWorld({ maxWorkers: 1, candidateSeconds: 0.5 });
    onTestFinished(() => small.close());
    const busy = await addFile(small, "usleep(500000); echo 'done';");
    const other = await addFile(small, "sleep(1); echo 'slept';");
    await small.serving.setEnvironments([busy]);
    const slow = small.serving.handle(busy.id, exampleRequest(address));
    await vi.waitUntil(() => workersOf(busy.id, small).some((worker) => worker.busy), waiting);
    expect((await runTrial(other, "/", small)).text).toBe("slept");
    expect(await text((await slow).body)).toBe("done");
    expect(small.serving.status().workers).toMatchObject([{ environmentId: other.id }]);
    await vi.waitUntil(() => workersOf(other.id, small).length === 0, waiting);
    await small.serving.close();
    expect(await outcomeOf(small.serving.runTrial(other, exampleRequest(address)))).toBe("unavailable");
  });
});

test("a new PHP run of an environment is served by new processes", async () => {
  await world.serving.setEnvironments([served]);
  await runPhp(world.serving, site, "echo 1;");
  const [before] = workersOf(site.environment.id);
  served = { ...served, phpRestarts: 1 };
  await world.serving.setEnvironments([served]);
  expect(workersOf(site.environment.id)).toEqual([]);
  await runPhp(world.serving, site, "echo 1;");
  expect(workersOf(site.environment.id).map(({ pid }) => pid)).not.toContain(before?.pid);
});

// The native runtime's tests have two versions in `native/versions/wordpress.playground.test.ts`.
test.runIf(engine === "playground")(
  "a switch to another PHP version after a trial loses no request of continuous visitors",
  async () => {
    await world.serving.setEnvironments([served]);
    await addScript(site, "version.php", "usleep(20000); echo PHP_MAJOR_VERSION, '.', PHP_MINOR_VERSION;");
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
  },
);
