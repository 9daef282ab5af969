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
  ])("from two o'clock for three hours is open at %s: %s", (moment, open) => {
    expect(isOpen(window(), at(moment))).toBe(open);
  });

  // 24 November is a Tuesday.
  it.each([
    ["Monday's is open on Tuesday after midnight", [1], "2026-11-24T00:30:00Z", true],
    ["Tuesday's is not open in the night before", [2], "2026-11-24T00:30:00Z", false],
    ["Sunday's is not open on Monday evening", [0], "2026-11-23T23:30:00Z", false],
    ["Saturday's is open on Sunday after midnight", [6], "2026-11-22T00:30:00Z", true],
  ])("belongs to the day on which it opens: %s", (_, days, moment, open) => {
    expect(isOpen(window({ days, start_minute: 23 * 60 }), at(moment))).toBe(open);
  });

  it("follows the site's time zone, in summer and in winter", () => {
    const berlin = window({ time_zone: "Europe/Berlin" });
    expect([isOpen(berlin, at("2026-07-01T00:10:00Z")), isOpen(berlin, at("2026-11-23T00:10:00Z"))]).toEqual([
      true,
      false,
    ]);
    const kolkata = window({ time_zone: "Asia/Kolkata", days: [1] });
    expect(isOpen(kolkata, at("2026-11-22T20:30:00Z"))).toBe(true);
  });

  it("of 24 hours is open all day", () => {
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

  it("is null if the window never opens", () => {
    expect(nextOpening(window({ days: [] }), at("2026-11-23T02:00:00Z"))).toBe(null);
  });
});

/** When the window opens and closes in the two days from midnight: day and time in UTC. */
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

describe("on a Sunday with a clock change a window", () => {
  const berlin = { days: [0], hours: 1, time_zone: "Europe/Berlin" };
  const lordHowe = { ...berlin, time_zone: "Australia/Lord_Howe" };
  const santiago = { ...berlin, time_zone: "America/Santiago" };
  it.each([
    // On 29 March from 2:00 to 3:00, which is 1:00 UTC.
    ["opens after the gap if its start is skipped", berlin, "2026-03-28", "29T01:00 29T02:00"],
    [
      "that would start later in the gap opens at its end too",
      { ...berlin, start_minute: 150 },
      "2026-03-28",
      "29T01:00 29T02:00",
    ],
    [
      "that starts before the gap has its full length",
      { ...berlin, start_minute: 60, hours: 2 },
      "2026-03-28",
      "29T00:00 29T02:00",
    ],
    // On 25 October from 3:00 to 2:00, which is 1:00 UTC.
    ["opens once if its start occurs twice", { ...berlin, start_minute: 150 }, "2026-10-24", "25T00:30 25T01:30"],
    [
      "that starts after the change has its full length",
      { ...berlin, start_minute: 180 },
      "2026-10-24",
      "25T02:00 25T03:00",
    ],
    // By half an hour: on 4 October at 2:00, which is 15:30 UTC on the day before, and back on 5 April.
    ["opens after a gap of half an hour", { ...lordHowe, start_minute: 135 }, "2026-10-03", "03T15:30 03T16:30"],
    ["opens once if half an hour occurs twice", { ...lordHowe, start_minute: 105 }, "2026-04-04", "04T14:45 04T15:45"],
    // On 6 September from midnight to 1:00.
    ["opens on a day without midnight", { ...santiago, start_minute: 0 }, "2026-09-05", "06T04:00 06T05:00"],
  ])("%s", (_, one, date, changes) => {
    expect(changesOf(window(one), date).join(" ")).toBe(changes);
  });
});

it("all kinds and spellings of time zones are supported", () => {
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
