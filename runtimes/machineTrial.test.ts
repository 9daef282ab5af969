import { expect, test } from "vitest";
import { makeMachineTrial } from "./machineTrial.ts";

/** A trial with these results, one after the other. */
function makeTrial(...results: readonly (boolean | Error)[]) {
  const clock = { now: 0 };
  let tried = 0;
  const tryOut = async () => {
    const result = results[tried];
    tried += 1;
    if (typeof result !== "boolean") throw result;
    return result;
  };
  const find = makeMachineTrial({ tryOut, isSuccess: (found) => found, now: () => clock.now });
  return { clock, find, tried: () => tried };
}

test("a success is final", async () => {
  const { clock, find, tried } = makeTrial(true, false);
  expect(await find()).toBe(true);
  clock.now += 1e9;
  expect(await find()).toBe(true);
  expect(tried()).toBe(1);
});

test("a failure is believed for a minute", async () => {
  const { clock, find } = makeTrial(false, true);
  expect(await find()).toBe(false);
  clock.now += 59_999;
  expect(await find()).toBe(false);
  clock.now += 1;
  expect(await find()).toBe(true);
});

test("an error is not kept", async () => {
  const { find } = makeTrial(new Error("none left"), true);
  await expect(find()).rejects.toThrow("none left");
  expect(await find()).toBe(true);
});

test("callers share a running trial", async () => {
  const { find, tried } = makeTrial(true, false);
  expect(await Promise.all([find(), find()])).toEqual([true, true]);
  expect(tried()).toBe(1);
});
