import { expect, test } from "vitest";
import { atOnce } from "./atOnce.ts";

const { signal } = new AbortController();

/** Ends when it is told to, and says so. */
function untilAborted(ended: string[], name: string) {
  return (stop: AbortSignal) =>
    new Promise<void>((_, reject) => {
      stop.addEventListener("abort", () => {
        setImmediate(() => {
          ended.push(name);
          reject(stop.reason);
        });
      });
    });
}

test("everything runs at the same time, and all of it has ended afterwards", async () => {
  const first = Promise.withResolvers<void>();
  const ended: string[] = [];
  await atOnce(signal, [
    async () => {
      await first.promise;
      ended.push("one");
    },
    async () => {
      ended.push("other");
      first.resolve();
    },
  ]);
  expect(ended).toEqual(["other", "one"]);
});

test("where one fails the other is broken off, and the first failure is told when that has ended", async () => {
  const ended: string[] = [];
  const failure = new Error("The disk is full.");
  const running = atOnce(signal, [untilAborted(ended, "one"), () => Promise.reject(failure)]);
  await expect(running).rejects.toBe(failure);
  expect(ended).toEqual(["one"]);
});

test("its own signal breaks off all of them", async () => {
  const ended: string[] = [];
  const stop = new AbortController();
  const running = atOnce(stop.signal, [untilAborted(ended, "one"), untilAborted(ended, "other")]);
  stop.abort(new Error("Time is up."));
  await expect(running).rejects.toThrow("Time is up.");
  expect(ended).toEqual(["one", "other"]);
});
