import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { NoAnswer, type ServedEnvironment } from "../../runtime.ts";
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
  await pool.acquire("site-0", false, never);
  const waiting = ids.flatMap((id) => Array.from({ length: 100 }, () => pool.acquire(id, false, never)));
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
  const first = await pool.acquire("one", false, never);
  const waiting = pool.acquire("two", false, never);
  canStart = false;
  pool.release(first);
  await expect(waiting).rejects.toBeInstanceOf(NoAnswer);
  canStart = true;
  expect((await pool.acquire("one", false, never)).environment.id).toBe("one");
}, 30_000);
