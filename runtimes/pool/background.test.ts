import { expect, test } from "vitest";
import { makeBackgroundRule } from "./background.ts";

const cores = 2;

test("companies run in the background while they get enough", () => {
  const isInBackground = makeBackgroundRule(cores);
  expect(isInBackground({ waiting: 0, used: 0 }, 0)).toBe(true);
  expect(isInBackground({ waiting: 8, used: 1.5 }, 500)).toBe(true);
  expect(isInBackground({ waiting: 0.1, used: 0.1 }, 1_000)).toBe(true);
});

test("companies that get little of what they want leave the background for ten seconds", () => {
  const isInBackground = makeBackgroundRule(cores);
  expect(isInBackground({ waiting: 3, used: 0.2 }, 1_000)).toBe(false);
  expect(isInBackground({ waiting: 0, used: 1 }, 10_500)).toBe(false);
  expect(isInBackground({ waiting: 0, used: 1 }, 11_000)).toBe(true);
});
