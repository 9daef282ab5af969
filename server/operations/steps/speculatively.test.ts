import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { speculatively } from "./speculatively.ts";

const { signal } = new AbortController();
const untilAborted = (until: AbortSignal) =>
  new Promise<void>((_, reject) => {
    until.addEventListener("abort", () => reject(until.reason));
  });

test("does allowed work, and rejects with its error", async () => {
  let isDone = false;
  await speculatively(
    nextTurn(),
    async () => {
      isDone = true;
    },
    signal,
  );
  expect(isDone).toBe(true);
  await expect(speculatively(nextTurn(), () => Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
});

test("aborts work that is not allowed, and rejects only when it has ended", async () => {
  let hasEnded = false;
  const work = (until: AbortSignal) =>
    untilAborted(until).finally(async () => {
      await nextTurn();
      hasEnded = true;
    });
  await expect(speculatively(Promise.reject(new Error("no room")), work, signal)).rejects.toThrow("no room");
  expect(hasEnded).toBe(true);
});

test("passes an outer abort on to the work", async () => {
  const outside = new AbortController();
  const waiting = speculatively(nextTurn(), untilAborted, outside.signal);
  outside.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
});
