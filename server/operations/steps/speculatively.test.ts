import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { speculatively } from "./speculatively.ts";

const { signal } = new AbortController();
const untilAborted = (until: AbortSignal) =>
  new Promise<void>((_, reject) => {
    until.addEventListener("abort", () => reject(until.reason));
  });

test("what is allowed is done, and its failure is heard of", async () => {
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

test("what is not allowed is given up, and has come to its end before that is said", async () => {
  let hasEnded = false;
  const work = (until: AbortSignal) =>
    untilAborted(until).finally(async () => {
      await nextTurn();
      hasEnded = true;
    });
  await expect(speculatively(Promise.reject(new Error("no room")), work, signal)).rejects.toThrow("no room");
  expect(hasEnded).toBe(true);
});

test("whoever aborts from outside is heard by the work", async () => {
  const outside = new AbortController();
  const waiting = speculatively(nextTurn(), untilAborted, outside.signal);
  outside.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
});
