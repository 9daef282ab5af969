import { describe, expect, it } from "vitest";
import { isTimeZone, nextOpening, type UpdateWindow } from "./updateWindow.ts";

const everyDay = [0, 1, 2, 3, 4, 5, 6];
const window = (more: Partial<UpdateWindow> = {}): UpdateWindow => ({
  days: everyDay,
  start_minute: 120,
  hours: 3,
  time_zone: "UTC",
  ...more,
});
const at = (text: string) => new Date(text);
const isOpen = (one: UpdateWindow, now: Date) => nextOpening(one, now)?.getTime() === now.getTime();

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
    [window({ start_minute: 125 }), "2026-11-23T02:00:00Z", "2026-11-23T02:05:00.000Z"],
  ])("of %j after %s is %s", (one, now, then) => {
    expect(nextOpening(one, at(now))?.toISOString()).toBe(then);
  });

  it("is none where it never opens", () => {
    expect(nextOpening(window({ days: [] }), at("2026-11-23T02:00:00Z"))).toBe(null);
  });
});

/** When it opens and closes in the two days after midnight, by the clock of UTC: day and time. */
function changesOf(one: UpdateWindow, date: string): readonly string[] {
  const changes: string[] = [];
  const first = at(`${date}T00:00:00Z`).getTime();
  let wasOpen = isOpen(one, new Date(first));
  for (let minutes = 0; minutes < 48 * 60; minutes += 5) {
    const moment = new Date(first + minutes * 60_000);
    const open = isOpen(one, moment);
    if (open !== wasOpen) changes.push(moment.toISOString().slice(8, 16));
    wasOpen = open;
  }
  return changes;
}

describe("on a Sunday whose clock is changed a window", () => {
  const berlin = { days: [0], hours: 1, time_zone: "Europe/Berlin" };
  const lordHowe = { ...berlin, time_zone: "Australia/Lord_Howe" };
  const santiago = { ...berlin, time_zone: "America/Santiago" };
  it.each([
    // On 29 March from two o'clock to three, which is one o'clock in UTC.
    ["opens after its beginning where that is left out", berlin, "2026-03-28", "29T01:00 29T02:00"],
    ["that would begin later opens then, too", { ...berlin, start_minute: 150 }, "2026-03-28", "29T01:00 29T02:00"],
    ["that begins before has its hours", { ...berlin, start_minute: 60, hours: 2 }, "2026-03-28", "29T00:00 29T02:00"],
    // On 25 October from three o'clock to two, which is one o'clock in UTC.
    ["opens once where its beginning comes twice", { ...berlin, start_minute: 150 }, "2026-10-24", "25T00:30 25T01:30"],
    ["that begins after has its hours", { ...berlin, start_minute: 180 }, "2026-10-24", "25T02:00 25T03:00"],
    // Half an hour: on 4 October from two o'clock on, which is half past three in UTC on the day before, and back on 5 April.
    ["opens after half an hour", { ...lordHowe, start_minute: 135 }, "2026-10-03", "03T15:30 03T16:30"],
    ["opens before half an hour", { ...lordHowe, start_minute: 105 }, "2026-04-04", "04T14:45 04T15:45"],
    // On 6 September from midnight to one o'clock.
    ["opens on a day that has no midnight", { ...santiago, start_minute: 0 }, "2026-09-05", "06T04:00 06T05:00"],
  ])("%s", (_, one, date, changes) => {
    expect(changesOf(window(one), date).join(" ")).toBe(changes);
  });
});

it("is read in zones of every kind and spelling, however many there are", () => {
  for (let offset = 0; offset < 14 * 60; offset += 1) {
    const text = `+${String(Math.floor(offset / 60)).padStart(2, "0")}:${String(offset % 60).padStart(2, "0")}`;
    const opening = at("2026-11-23T14:00:00Z").getTime() - offset * 60_000;
    const one = window({ start_minute: 14 * 60, hours: 1, time_zone: text });
    expect(nextOpening(one, new Date(opening - 60_000))?.getTime()).toBe(opening);
  }
  const west = window({ time_zone: "aMERICA/st_JOHNS" });
  expect(nextOpening(west, at("2026-11-23T00:00:00Z"))?.toISOString()).toBe("2026-11-23T05:30:00.000Z");
});

it.each([
  ["Europe/Berlin", true],
  ["UTC", true],
  ["Mars/Olympus", false],
  ["", false],
])("%j is a time zone: %s", (name, isOne) => {
  expect(isTimeZone(name)).toBe(isOne);
});
