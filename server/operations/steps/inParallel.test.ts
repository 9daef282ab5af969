import { expect, test } from "vitest";
import { inParallel } from "./inParallel.ts";

const { signal } = new AbortController();

/** Work that ends when its signal is aborted, and adds its name to `ended`. */
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

test("runs all work at the same time, and waits until all of it has ended", async () => {
  const first = Promise.withResolvers<void>();
  const ended: string[] = [];
  await inParallel(signal, [
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

test("aborts the others if one fails, and rejects with the first error when all have ended", async () => {
  const ended: string[] = [];
  const failure = new Error("The disk is full.");
  const running = inParallel(signal, [untilAborted(ended, "one"), () => Promise.reject(failure)]);
  await expect(running).rejects.toBe(failure);
  expect(ended).toEqual(["one"]);
});

test("aborts all work when its own signal is aborted", async () => {
  const ended: string[] = [];
  const stop = new AbortController();
  const running = inParallel(stop.signal, [untilAborted(ended, "one"), untilAborted(ended, "other")]);
  stop.abort(new Error("Time is up."));
  await expect(running).rejects.toThrow("Time is up.");
  expect(ended).toEqual(["one", "other"]);
});
