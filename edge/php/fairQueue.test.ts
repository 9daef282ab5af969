import { expect, test } from "vitest";
import { createFairQueue } from "./fairQueue.ts";

/** Rounds that begin when the test says so. */
function rounds() {
  const planned: (() => void)[] = [];
  const turns = createFairQueue((begin) => planned.push(begin));
  const next = async () => {
    planned.shift()?.();
    await Promise.resolve();
  };
  return { turns, next, planned };
}

function take(turns: ReturnType<typeof createFairQueue>, id: string, times: number, done: string[]): void {
  for (let count = 0; count < times; count += 1) {
    const turn = turns.take(id);
    if (turn === true) done.push(id);
    else if (turn === false) done.push(`${id} refused`);
    else void turn.then(() => done.push(id));
  }
}

const count = (done: readonly string[], id: string) => done.filter((one) => one === id).length;

test("one environment's crowd does not stand before another's visitor", () => {
  const { turns } = rounds();
  const done: string[] = [];
  take(turns, "crowd", 100, done);
  take(turns, "quiet", 1, done);
  expect(count(done, "crowd")).toBe(8);
  expect(count(done, "quiet")).toBe(1);
});

test("everybody has a turn, in the order in which they came", async () => {
  const { turns, next, planned } = rounds();
  const done: string[] = [];
  take(turns, "crowd", 20, done);
  await next();
  expect(count(done, "crowd")).toBe(16);
  await next();
  expect(count(done, "crowd")).toBe(20);
  await next();
  // Nothing is left to be done, and nothing is.
  expect(planned).toEqual([]);
  take(turns, "crowd", 1, done);
  expect(count(done, "crowd")).toBe(21);
});

test("who comes later does not overtake those who wait", async () => {
  const { turns, next } = rounds();
  const order: number[] = [];
  for (let index = 0; index < 9; index += 1) {
    const turn = turns.take("one");
    if (turn === true) order.push(index);
    else if (turn !== false) void turn.then(() => order.push(index));
  }
  await next();
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test("too many who wait are refused, of that environment alone", () => {
  const { turns } = rounds();
  const done: string[] = [];
  take(turns, "crowd", 1_100, done);
  take(turns, "quiet", 1, done);
  expect(count(done, "crowd refused")).toBe(1_100 - 1_008);
  expect(count(done, "quiet")).toBe(1);
});
