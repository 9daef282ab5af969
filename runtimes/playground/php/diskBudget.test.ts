import { describe, expect, test } from "vitest";
import { createDiskBudget } from "./diskBudget.ts";

const megabyte = 1 << 20;

function budget(leftBytes: number | null) {
  const reported: number[] = [];
  const disk = createDiskBudget();
  disk.begin(leftBytes);
  disk.onGrown((bytes) => reported.push(bytes));
  return { disk, reported };
}

test.each([
  { left: null, bytes: 1e12, isDatabase: false, taken: true },
  { left: 100, bytes: 100, isDatabase: false, taken: true },
  { left: 100, bytes: 101, isDatabase: false, taken: false },
  { left: -1, bytes: 1, isDatabase: false, taken: false },
  { left: -1, bytes: -1, isDatabase: false, taken: true },
  { left: 0, bytes: 8 * megabyte, isDatabase: true, taken: true },
  { left: 0, bytes: 8 * megabyte + 1, isDatabase: true, taken: false },
])("with $left bytes left, $bytes more of the database ($isDatabase): $taken", ({ left, bytes, isDatabase, taken }) => {
  expect(budget(left).disk.take(bytes, isDatabase)).toBe(taken);
});

test("taken bytes count, freed bytes are available again, and refused ones don't count", () => {
  const { disk } = budget(100);
  expect(disk.take(80, false)).toBe(true);
  expect(disk.take(30, false)).toBe(false);
  expect(disk.take(20, false)).toBe(true);
  expect(disk.take(-50, false)).toBe(true);
  expect(disk.take(50, false)).toBe(true);
});

test("reports growth in parts during the request, and the rest at the end", () => {
  const { disk, reported } = budget(10 * megabyte);
  for (let count = 0; count < 5; count += 1) disk.take(100_000, false);
  expect(reported).toEqual([300_000]);
  disk.end();
  expect(reported).toEqual([300_000, 200_000]);
});

test("tells for each request whether anything was written", () => {
  const { disk } = budget(null);
  disk.noteWrite();
  expect(disk.end()).toBe(true);
  disk.begin(null);
  expect(disk.end()).toBe(false);
});

describe("the disk's reserve", () => {
  function nearlyFull(freeBytes: number) {
    let asked = 0;
    const disk = createDiskBudget();
    disk.keepFree(() => {
      asked += 1;
      return freeBytes;
    });
    disk.begin(null);
    return { disk, asked: () => asked };
  }

  test.each([
    { free: 10, bytes: 10, isDatabase: false, taken: true },
    { free: 10, bytes: 11, isDatabase: false, taken: false },
    { free: -1, bytes: 1, isDatabase: false, taken: false },
    { free: -1, bytes: -1, isDatabase: false, taken: true },
    { free: -1, bytes: 4096, isDatabase: true, taken: true },
    { free: -300 * megabyte, bytes: 4096, isDatabase: true, taken: false },
  ])("with $free bytes above it, $bytes more of the database ($isDatabase): $taken", (sample) => {
    const { free, bytes, isDatabase, taken } = sample;
    expect(nearlyFull(free).disk.take(bytes, isDatabase)).toBe(taken);
  });

  test("is not asked about with every change, but again in the next request and after some megabytes", () => {
    const { disk, asked } = nearlyFull(1e9);
    for (let count = 0; count < 1_000; count += 1) disk.take(1_000, false);
    expect(asked()).toBe(1);
    disk.take(20 * megabyte, false);
    expect(asked()).toBe(2);
    disk.end();
    disk.begin(null);
    disk.take(1, false);
    expect(asked()).toBe(3);
  });

  test("also counts what is written into holes of files", () => {
    const { disk } = nearlyFull(-1);
    expect(disk.mayOverwrite(1, false)).toBe(false);
    expect(disk.mayOverwrite(4096, true)).toBe(true);
  });
});
