import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { NoAnswer, type ServedEnvironment } from "../../serving.ts";
import { sharedAssets } from "../testing/world.ts";
import { WorkerProcess } from "../worker/process.ts";
import { createPool, type PoolOptions } from "./pool.ts";

const codeCache = path.join(sharedAssets, "code");
const never = new AbortController().signal;

function environment(id: string): ServedEnvironment {
  return { id, number: 1, phpVersion: "8.3", release: 1, documentRoot: `/${id}`, overlays: {}, multisite: null };
}

function openPool(options: Partial<PoolOptions> = {}) {
  const start = () => new WorkerProcess({ type: "boot", phpVersion: "8.3", compiled: null, codeCache }, 60);
  const pool = createPool({ maxWorkers: 1, idleSeconds: 60, waitSeconds: 60, candidateSeconds: 60, start, ...options });
  onTestFinished(() => pool.close());
  return pool;
}

const ids = Array.from({ length: 20 }, (_, index) => `site-${index}`);

test("visitors of many sites who wait for a worker cost next to nothing while they wait", async () => {
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

test("a worker that can't be started takes down nobody but who wanted it", async () => {
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

test("what nobody waits for has a place above the maximum, and costs no visitor's worker", async () => {
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

test("the worker of a site that only did what it had planned is soon ended, unless a visitor has come", async () => {
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

test("the next site's turn ends what the one before has left behind", async () => {
  const pool = openPool({ maxWorkers: 4 });
  await pool.setEnvironments(["one", "two"].map(environment));
  pool.release(await pool.acquire("one", "background", never));
  const next = await pool.acquire("two", "background", never);
  expect(pool.members()).toEqual([next]);
}, 30_000);

test("a visitor does not wait for what is done in the background, which waits for visitors", async () => {
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

test("what a site asks of itself in the background keeps no worker either", async () => {
  const pool = openPool({ maxWorkers: 4 });
  await pool.setEnvironments([environment("one")]);
  const background = await pool.acquire("one", "background", never);
  const called = await pool.acquire("one", "php", never);
  expect(called).not.toBe(background);
  pool.release(called);
  pool.release(background);
  await expect.poll(() => pool.members(), { timeout: 15_000 }).toEqual([]);
}, 30_000);
