import { describe, expect, it } from "vitest";
import { isOpen, isTimeZone, nextOpening, type UpdateWindow } from "./updateWindow.ts";

const everyDay = [0, 1, 2, 3, 4, 5, 6];
const window = (more: Partial<UpdateWindow> = {}): UpdateWindow => ({
  days: everyDay,
  start_minute: 120,
  hours: 3,
  time_zone: "UTC",
  ...more,
});
const at = (text: string) => new Date(text);

describe("a window", () => {
  it.each([
    ["2026-11-23T01:59:59Z", false],
    ["2026-11-23T02:00:00Z", true],
    ["2026-11-23T04:59:59Z", true],
    ["2026-11-23T05:00:00Z", false],
  ])("from two o'clock on, for three hours, is at %s open: %s", (moment, open) => {
    expect(isOpen(window(), at(moment))).toBe(open);
  });

  // In the night to Tuesday, 24 November.
  it.each([
    ["that opens on Monday before midnight, on Tuesday after it", [1], "2026-11-24T00:30:00Z", true],
    ["that opens on Tuesday, not in the night before", [2], "2026-11-24T00:30:00Z", false],
    ["that opens on Sunday, not on Monday evening", [0], "2026-11-23T23:30:00Z", false],
    ["that opens on Saturday, on Sunday after midnight", [6], "2026-11-22T00:30:00Z", true],
  ])("is open, or not: one %s", (_, days, moment, open) => {
    expect(isOpen(window({ days, start_minute: 23 * 60 }), at(moment))).toBe(open);
  });

  it("is meant where the site's people are, in summer and in winter", () => {
    const berlin = window({ time_zone: "Europe/Berlin" });
    expect([isOpen(berlin, at("2026-07-01T00:10:00Z")), isOpen(berlin, at("2026-11-23T00:10:00Z"))]).toEqual([
      true,
      false,
    ]);
    const kolkata = window({ time_zone: "Asia/Kolkata", days: [1] });
    expect(isOpen(kolkata, at("2026-11-22T20:30:00Z"))).toBe(true);
  });

  it("of a whole day is always open on that day", () => {
    expect(isOpen(window({ hours: 24, days: [1] }), at("2026-11-24T01:59:00Z"))).toBe(true);
    expect(isOpen(window({ hours: 24, days: [1] }), at("2026-11-24T02:00:00Z"))).toBe(false);
  });
});

describe("the next opening", () => {
  it.each([
    [window(), "2026-11-23T03:00:00Z", "2026-11-23T03:00:00.000Z"],
    [window(), "2026-11-23T05:00:00Z", "2026-11-24T02:00:00.000Z"],
    [window({ days: [1] }), "2026-11-23T05:00:00Z", "2026-11-30T02:00:00.000Z"],
    [window({ start_minute: 125 }), "2026-11-23T02:00:00Z", "2026-11-23T02:15:00.000Z"],
  ])("of %j after %s is %s", (one, now, then) => {
    expect(nextOpening(one, at(now))?.toISOString()).toBe(then);
  });

  it("is none where it never opens", () => {
    expect(nextOpening(window({ days: [] }), at("2026-11-23T02:00:00Z"))).toBe(null);
  });
});

it.each([
  ["Europe/Berlin", true],
  ["UTC", true],
  ["Mars/Olympus", false],
  ["", false],
])("%j is a time zone: %s", (name, isOne) => {
  expect(isTimeZone(name)).toBe(isOne);
});
