import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hour, nextBackupTime } from "./backupTimes.ts";

const now = new Date("2026-11-21T10:00:00Z");
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);

describe.each([1, 7, 24, 168])("every %d hours", (hours) => {
  test("an environment's backup time is stable", () => {
    const id = randomUUID();
    const first = nextBackupTime(id, hours, now);
    expect(first.getTime()).toBeGreaterThan(now.getTime());
    expect(first.getTime()).toBeLessThanOrEqual(later(hours * hour).getTime());
    expect(nextBackupTime(id, hours, now)).toEqual(first);
    expect(nextBackupTime(id, hours, new Date(first.getTime() - 1))).toEqual(first);
    expect(nextBackupTime(id, hours, first).getTime()).toBe(first.getTime() + hours * hour);
  });

  test("the backups of a thousand environments are spread evenly", () => {
    const tenths = Array.from({ length: 1_000 }, () => {
      const time = nextBackupTime(randomUUID(), hours, now);
      return Math.floor(((time.getTime() - now.getTime()) / (hours * hour)) * 10);
    });
    const counts = Map.groupBy(tenths, (tenth) => tenth);
    expect(counts.size).toBe(10);
    for (const [, { length }] of counts) expect(length).toBeLessThan(200);
  });

  test("works before 1970", () => {
    const old = new Date("1969-07-20T20:17:00Z");
    const time = nextBackupTime(randomUUID(), hours, old);
    expect(time.getTime()).toBeGreaterThan(old.getTime());
    expect(time.getTime()).toBeLessThanOrEqual(old.getTime() + hours * hour);
  });
});
