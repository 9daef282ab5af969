import { expect, test } from "vitest";
import { makeBackgroundRule, makeTimeCounter } from "./background.ts";

const cores = 2;

test("companies run in the background while they get enough", () => {
  const isInBackground = makeBackgroundRule(cores);
  expect(isInBackground({ waiting: 0, used: () => 0 }, 0)).toBe(true);
  expect(isInBackground({ waiting: 8, used: () => 1.5 }, 500)).toBe(true);
  expect(isInBackground({ waiting: 0.1, used: () => 0.1 }, 1_000)).toBe(true);
});

test("companies that get little of what they want leave the background for ten seconds", () => {
  const isInBackground = makeBackgroundRule(cores);
  expect(isInBackground({ waiting: 3, used: () => 0.2 }, 1_000)).toBe(false);
  expect(isInBackground({ waiting: 0, used: () => 1 }, 10_500)).toBe(false);
  expect(isInBackground({ waiting: 0, used: () => 1 }, 11_000)).toBe(true);
});

test("the time of companies' processes is counted whenever they started or ended", () => {
  const times = new Map<number, number>();
  const count = makeTimeCounter((pid) => {
    const used = times.get(pid);
    return used === undefined ? null : { used, wanted: used };
  });
  const counted = (used: Readonly<Record<number, number>>) => {
    times.clear();
    for (const [pid, time] of Object.entries(used)) times.set(Number(pid), time);
    return count([...times.keys(), 9]);
  };
  expect(counted({ 1: 100 })).toBe(100);
  expect(counted({ 1: 150, 2: 20 })).toBe(70);
  expect(counted({ 2: 20 })).toBe(0);
  expect(counted({ 1: 30, 2: 5 })).toBe(35);
});
