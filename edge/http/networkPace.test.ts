import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test } from "vitest";
import { createNetworkPace } from "./networkPace.ts";

/** A pace whose pauses last until the test ends them. */
function pausedPace() {
  const pauses: { readonly milliseconds: number; end(): void }[] = [];
  const pace = createNetworkPace((milliseconds) => new Promise<void>((end) => pauses.push({ milliseconds, end })));
  const done: string[] = [];
  const run = (name: string, address = "192.0.2.1") => pace.run(address, () => done.push(name));
  return { pauses, done, run, pace };
}

test("a network's next work waits for many times as long as the previous one took", async () => {
  const { pace, pauses, done, run } = pausedPace();
  await pace.run("192.0.2.1", () => {
    const end = performance.now() + 5;
    while (performance.now() < end);
  });
  const running = [run("second"), run("third")];
  await nextRound();
  expect(done).toEqual([]);
  expect(pauses.map(({ milliseconds }) => milliseconds >= 95)).toEqual([true]);
  pauses[0]?.end();
  await running[0];
  expect(done).toEqual(["second"]);
  pauses[1]?.end();
  await running[1];
  expect(done).toEqual(["second", "third"]);
});

test("other networks do not wait", async () => {
  const { pace, done, run } = pausedPace();
  await run("first", "2001:db8::1");
  expect(pace.isPaused("2001:db8::2")).toBe(true);
  expect(pace.isPaused("198.51.100.1")).toBe(false);
  await run("of others", "198.51.100.1");
  expect(done).toEqual(["first", "of others"]);
});

test("work that fails ends its turn", async () => {
  const { pace, pauses, done, run } = pausedPace();
  await expect(pace.run("192.0.2.1", () => JSON.parse("{"))).rejects.toThrow(SyntaxError);
  const next = run("next");
  pauses[0]?.end();
  await next;
  expect(done).toEqual(["next"]);
});

test("work that took no time lets the next begin at once", async () => {
  const { pace, pauses, done, run } = pausedPace();
  const end = await pace.turn("192.0.2.1");
  const running = run("next");
  await nextRound();
  expect(done).toEqual([]);
  end(0);
  await running;
  expect(pauses).toHaveLength(1);
});

test("a network that was charged for work waits, and is free when its pauses have ended", async () => {
  const { pace, pauses, done, run } = pausedPace();
  pace.charge("192.0.2.1", 2);
  const running = run("second");
  await nextRound();
  expect(done).toEqual([]);
  expect(pauses.map(({ milliseconds }) => milliseconds)).toEqual([38]);
  pauses[0]?.end();
  await running;
  expect(done).toEqual(["second"]);
  expect(pace.isPaused("192.0.2.1")).toBe(true);
  pauses[1]?.end();
  await nextRound();
  expect(pace.isPaused("192.0.2.1")).toBe(false);
});
