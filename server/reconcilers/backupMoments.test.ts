import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hour, nextMoment } from "./backupMoments.ts";

const now = new Date("2026-11-21T10:00:00Z");
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);

describe.each([1, 7, 24, 168])("every %d hours", (hours) => {
  test("an environment has a moment of its own, the same whoever asks and whenever", () => {
    const id = randomUUID();
    const first = nextMoment(id, hours, now);
    expect(first.getTime()).toBeGreaterThan(now.getTime());
    expect(first.getTime()).toBeLessThanOrEqual(later(hours * hour).getTime());
    expect(nextMoment(id, hours, now)).toEqual(first);
    expect(nextMoment(id, hours, new Date(first.getTime() - 1))).toEqual(first);
    expect(nextMoment(id, hours, first).getTime()).toBe(first.getTime() + hours * hour);
  });

  test("a thousand environments don't begin together", () => {
    const tenths = Array.from({ length: 1_000 }, () => {
      const moment = nextMoment(randomUUID(), hours, now);
      return Math.floor(((moment.getTime() - now.getTime()) / (hours * hour)) * 10);
    });
    const counts = Map.groupBy(tenths, (tenth) => tenth);
    expect(counts.size).toBe(10);
    for (const [, { length }] of counts) expect(length).toBeLessThan(200);
  });

  test("there is a next one before 1970 too", () => {
    const long = new Date("1969-07-20T20:17:00Z");
    const moment = nextMoment(randomUUID(), hours, long);
    expect(moment.getTime()).toBeGreaterThan(long.getTime());
    expect(moment.getTime()).toBeLessThanOrEqual(long.getTime() + hours * hour);
  });
});
