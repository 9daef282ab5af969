import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { sharedAssets } from "../playground/testing/world.ts";
import { WorkerProcess } from "../playground/worker/process.ts";
import { NoAnswer, type ServedEnvironment } from "../serving.ts";
import { createPool, type PoolOptions } from "./pool.ts";

const codeCache = path.join(sharedAssets, "code");
const never = new AbortController().signal;

/** The part of the id before the slash is the company. */
function environment(id: string): ServedEnvironment {
  const [companyId = ""] = id.includes("/") ? id.split("/") : ["company"];
  return {
    id,
    companyId,
    number: 1,
    phpVersion: "8.3",
    release: 1,
    documentRoot: `/${id}`,
    overlays: {},
    multisite: null,
  };
}

function openPool(options: Partial<PoolOptions> = {}) {
  const start = () => new WorkerProcess({ type: "boot", phpVersion: "8.3", compiled: null, codeCache }, 60);
  const pool = createPool({
    maxWorkers: 1,
    memoryBytes: Number.POSITIVE_INFINITY,
    idleSeconds: 60,
    waitSeconds: 60,
    candidateSeconds: 60,
    start,
    ...options,
  });
  onTestFinished(() => pool.close());
  return pool;
}

const ids = Array.from({ length: 20 }, (_, index) => `site-${index}`);

test("waiting requests for many sites use almost no CPU time", async () => {
  const pool = openPool();
  await pool.setEnvironments(ids.map(environment));
  await pool.acquire("site-0", "visitor", never);
  const waiting = ids.flatMap((id) => Array.from({ length: 100 }, () => pool.acquire(id, "visitor", never)));
  const ends = Promise.allSettled(waiting);
  await delay(300);
  const before = process.cpuUsage();
  await delay(1000);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(500);
  await pool.setEnvironments([]);
  expect(new Set((await ends).map(({ status }) => status))).toEqual(new Set(["rejected"]));
}, 30_000);

test("a worker that can't be started fails only the request that needed it", async () => {
  let canStart = true;
  const pool = openPool({
    start: () => {
      if (!canStart) throw new Error("no more processes");
      return new WorkerProcess({ type: "boot", phpVersion: "8.3", compiled: null, codeCache }, 60);
    },
  });
  await pool.setEnvironments([environment("one"), environment("two")]);
  const first = await pool.acquire("one", "visitor", never);
  const waiting = pool.acquire("two", "visitor", never);
  canStart = false;
  pool.release(first);
  await expect(waiting).rejects.toBeInstanceOf(NoAnswer);
  canStart = true;
  expect((await pool.acquire("one", "visitor", never)).environment.id).toBe("one");
}, 30_000);

test("background work runs above the maximum and ends no visitor's worker", async () => {
  const pool = openPool();
  await pool.setEnvironments(["one", "two", "three"].map(environment));
  const visitors = await pool.acquire("one", "visitor", never);
  pool.release(visitors);
  const background = await pool.acquire("two", "background", never);
  expect(pool.members()).toContain(visitors);
  pool.release(background);
  expect(pool.members()).toEqual([visitors]);
  expect(await pool.acquire("one", "background", never)).toBe(visitors);
}, 30_000);

test("a background worker is ended soon, unless a visitor comes", async () => {
  const pool = openPool({ maxWorkers: 4 });
  await pool.setEnvironments(["one", "two"].map(environment));
  const [left, visited] = [
    await pool.acquire("one", "background", never),
    await pool.acquire("two", "background", never),
  ];
  pool.release(left);
  pool.release(visited);
  expect(await pool.acquire("two", "visitor", never)).toBe(visited);
  pool.release(visited);
  await expect.poll(() => pool.members(), { timeout: 15_000 }).toEqual([visited]);
}, 30_000);

test("background work for the next site ends the previous background worker", async () => {
  const pool = openPool({ maxWorkers: 4 });
  await pool.setEnvironments(["one", "two"].map(environment));
  pool.release(await pool.acquire("one", "background", never));
  const next = await pool.acquire("two", "background", never);
  expect(pool.members()).toEqual([next]);
}, 30_000);

test("visitors don't wait for background work, but background work waits for visitors", async () => {
  const pool = openPool({ maxWorkers: 4 });
  await pool.setEnvironments([environment("one")]);
  const background = await pool.acquire("one", "background", never);
  const visitors = await pool.acquire("one", "visitor", never);
  expect(visitors).not.toBe(background);
  const waiting = pool.acquire("one", "background", never);
  expect(pool.members()).toHaveLength(2);
  pool.release(visitors);
  expect(await waiting).toBe(visitors);
}, 30_000);

test("a worker for a site's request to itself in the background is not kept either", async () => {
  const pool = openPool({ maxWorkers: 4 });
  await pool.setEnvironments([environment("one")]);
  const background = await pool.acquire("one", "background", never);
  const called = await pool.acquire("one", "php", never);
  expect(called).not.toBe(background);
  pool.release(called);
  pool.release(background);
  await expect.poll(() => pool.members(), { timeout: 15_000 }).toEqual([]);
}, 30_000);

const greedy = ["greedy/1", "greedy/2", "greedy/3", "greedy/4", "greedy/5"];

test("a company whose requests never end leaves others their share of the workers", async () => {
  const pool = openPool({ maxWorkers: 4 });
  await pool.setEnvironments([...greedy, "other/1"].map(environment));
  const held = await Promise.all(greedy.slice(0, 4).map((id) => pool.acquire(id, "visitor", never)));
  const refused = expect(pool.acquire("greedy/5", "visitor", never)).rejects.toBeInstanceOf(NoAnswer);
  const first = await pool.acquire("other/1", "visitor", never);
  expect(pool.members()).toHaveLength(5);
  pool.release(first);
  expect(await pool.acquire("other/1", "visitor", never), "it is kept").toBe(first);
  for (const member of held.slice(0, 1)) pool.release(member);
  expect(pool.members(), "the greedy company has returned one").toHaveLength(4);
  expect(pool.members()).toContain(first);
  await pool.setEnvironments([]);
  await refused;
}, 30_000);

test("a free worker goes to the company with the fewest, not to the one with the longest queue", async () => {
  const pool = openPool({ maxWorkers: 2 });
  await pool.setEnvironments([...greedy, "one/1", "two/1"].map(environment));
  const held = await Promise.all(["greedy/1", "greedy/2", "one/1"].map((id) => pool.acquire(id, "visitor", never)));
  const queued = ["greedy/3", "greedy/4", "two/1", "greedy/5"].map((id) => pool.acquire(id, "visitor", never));
  const ends = Promise.allSettled(queued);
  for (const member of held) pool.release(member);
  expect((await queued[2])?.environment.id).toBe("two/1");
  expect(pool.members().filter(({ isBusy }) => isBusy)).toHaveLength(2);
  await pool.setEnvironments([]);
  expect((await ends).filter(({ status }) => status === "fulfilled")).toHaveLength(2);
}, 30_000);

test("a company gets no more workers than its limit, in all its environments together", async () => {
  const pool = openPool({ maxWorkers: 8 });
  const limits = { threads: 4, companyThreads: 2, memoryMb: 256, requestSeconds: null, disk: null };
  await pool.setEnvironments([...greedy, "other/1"].map((id) => ({ ...environment(id), limits })));
  const first = await pool.acquire("greedy/1", "visitor", never);
  await pool.acquire("greedy/2", "visitor", never);
  const waiting = pool.acquire("greedy/3", "visitor", never);
  await pool.acquire("other/1", "visitor", never);
  expect(pool.members()).toHaveLength(3);
  pool.release(first);
  expect((await waiting).environment.id).toBe("greedy/3");
}, 30_000);

test("runtimes share the workers, and an environment that has moved to another runtime gets a new one", async () => {
  const started: (string | undefined)[] = [];
  const start = ({ runtime }: ServedEnvironment) => {
    started.push(runtime);
    return new WorkerProcess({ type: "boot", phpVersion: "8.3", compiled: null, codeCache }, 60);
  };
  const pool = openPool({ maxWorkers: 1, start });
  await pool.setEnvironments(["playground", "native"].map((runtime) => ({ ...environment(runtime), runtime })));
  pool.release(await pool.acquire("playground", "visitor", never));
  pool.release(await pool.acquire("native", "visitor", never));
  pool.release(await pool.acquire("playground", "visitor", never));
  expect(started).toEqual(["playground", "native", "playground"]);
  await pool.setEnvironments([{ ...environment("playground"), runtime: "native" }]);
  await pool.acquire("playground", "visitor", never);
  expect(started).toEqual(["playground", "native", "playground", "native"]);
}, 30_000);

test("when an environment moves to another runtime, its workers end, and the trial's worker serves visitors", async () => {
  const pool = openPool({ maxWorkers: 4 });
  const [from, to] = [
    { ...environment("site"), runtime: "playground" },
    { ...environment("site"), runtime: "native" },
  ];
  await pool.setEnvironments([from]);
  const former = await pool.acquire("site", "visitor", never);
  const tried = await pool.acquireTrial(to, never);
  pool.release(tried);
  await pool.setEnvironments([from]);
  expect(pool.members()).toEqual([former, tried]);
  await pool.setEnvironments([to]);
  expect(pool.members()).toEqual([tried]);
  expect(former.worker.isBroken).toBe(true);
  expect(await pool.acquire("site", "visitor", never)).toBe(tried);
}, 30_000);
