import { describe, expect, it } from "vitest";
import type { DueEnvironment, DueUpdate } from "../store/packages/automaticUpdates.ts";
import { turnOf } from "./updateAutomatically.ts";

const night = new Date("2026-11-23T02:30:00Z");
const noon = new Date("2026-11-23T12:00:00Z");
const hoursBefore = (moment: Date, hours: number) => new Date(moment.getTime() - hours * 3_600_000);

function update(name: string, more: Partial<DueUpdate> = {}): DueUpdate {
  return { kind: "plugin", name, vulnerable_since: null, tried_among: null, ...more };
}

function environment(updates: readonly DueUpdate[], vulnerable_within_hours: number | null = null): DueEnvironment {
  const window = { days: [0, 1, 2, 3, 4, 5, 6], start_minute: 120, hours: 3, time_zone: "UTC" };
  return { id: "e", window, vulnerable_within_hours, updates };
}

describe("in its window an environment gets", () => {
  it("all of its plugins together, then its themes", () => {
    const theme = update("leaf", { kind: "theme" });
    expect(turnOf(environment([update("a"), update("b"), theme]), night)).toEqual({
      kind: "plugin",
      names: ["a", "b"],
    });
    expect(turnOf(environment([theme]), night)).toEqual({ kind: "theme", names: ["leaf"] });
  });

  it("each alone of those that failed together, after the others", () => {
    const failed = [update("a", { tried_among: 2 }), update("b", { tried_among: 2 })];
    expect(turnOf(environment([...failed, update("c")]), night)?.names).toEqual(["c"]);
    expect(turnOf(environment(failed), night)?.names).toEqual(["a"]);
  });

  it("nothing where nothing is due", () => {
    expect(turnOf(environment([]), night)).toBe(null);
  });
});

describe("outside of its window an environment gets", () => {
  it("nothing that is not vulnerable", () => {
    expect(turnOf(environment([update("a")], 1), noon)).toBe(null);
  });

  // The next window opens in 14 hours.
  it.each([
    ["nothing of what is updated in the window early enough", 24, 1, null],
    ["what would be updated too late in the window", 12, 1, ["bad"]],
    ["what should have been updated long ago", 24, 100, ["bad"]],
    ["what would be late by a minute", 15, 1, ["bad"]],
  ])("%s", (_, within, knownForHours, names) => {
    const bad = update("bad", { vulnerable_since: hoursBefore(noon, knownForHours) });
    expect(turnOf(environment([update("a"), bad], within), noon)?.names ?? null).toEqual(names);
  });

  it("nothing of what is vulnerable where nobody wants it for that", () => {
    const bad = update("bad", { vulnerable_since: hoursBefore(noon, 100) });
    expect(turnOf(environment([bad]), noon)).toBe(null);
  });
});
