import { expect, test } from "vitest";
import { createFairQueue } from "./fairQueue.ts";

/** A queue whose turns start when the test says so. */
function createManualQueue() {
  const scheduled: (() => void)[] = [];
  const queue = createFairQueue((startTurn) => scheduled.push(startTurn));
  const next = async () => {
    scheduled.shift()?.();
    await Promise.resolve();
  };
  return { queue, next, scheduled };
}

function take(queue: ReturnType<typeof createFairQueue>, id: string, times: number, done: string[]): void {
  for (let count = 0; count < times; count += 1) {
    const turn = queue.take(id);
    if (turn === true) done.push(id);
    else if (turn === false) done.push(`${id} refused`);
    else void turn.then(() => done.push(id));
  }
}

const count = (done: readonly string[], id: string) => done.filter((one) => one === id).length;

test("a busy company does not delay another one", () => {
  const { queue } = createManualQueue();
  const done: string[] = [];
  take(queue, "crowd", 100, done);
  take(queue, "quiet", 1, done);
  expect(count(done, "crowd")).toBe(8);
  expect(count(done, "quiet")).toBe(1);
});

test("all requests start within a few turns", async () => {
  const { queue, next, scheduled } = createManualQueue();
  const done: string[] = [];
  take(queue, "crowd", 20, done);
  await next();
  expect(count(done, "crowd")).toBe(16);
  await next();
  expect(count(done, "crowd")).toBe(20);
  await next();
  // The queue is empty, so no turn is scheduled.
  expect(scheduled).toEqual([]);
  take(queue, "crowd", 1, done);
  expect(count(done, "crowd")).toBe(21);
});

test("requests start in the order of arrival", async () => {
  const { queue, next } = createManualQueue();
  const order: number[] = [];
  for (let index = 0; index < 9; index += 1) {
    const turn = queue.take("one");
    if (turn === true) order.push(index);
    else if (turn !== false) void turn.then(() => order.push(index));
  }
  await next();
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test("requests are refused if too many of their environment are waiting", () => {
  const { queue } = createManualQueue();
  const done: string[] = [];
  take(queue, "crowd", 1_100, done);
  take(queue, "quiet", 1, done);
  expect(count(done, "crowd refused")).toBe(1_100 - 1_008);
  expect(count(done, "quiet")).toBe(1);
});
