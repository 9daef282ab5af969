import { describe, expect, it } from "vitest";
import type { DueEnvironment, DueUpdate } from "../store/packages/automaticUpdates.ts";
import { nextUpdate } from "./updateAutomatically.ts";

const night = new Date("2026-11-23T02:30:00Z");
const noon = new Date("2026-11-23T12:00:00Z");
const hoursBefore = (moment: Date, hours: number) => new Date(moment.getTime() - hours * 3_600_000);

function update(name: string, more: Partial<DueUpdate> = {}): DueUpdate {
  return { kind: "plugin", name, vulnerable_since: null, tried_among: null, ...more };
}

function environment(updates: readonly DueUpdate[], vulnerable_within_hours: number | null = null): DueEnvironment {
  const window = { days: [0, 1, 2, 3, 4, 5, 6], start_minute: 120, hours: 3, time_zone: "UTC" };
  return { id: "e", companyId: "c", isCompanyIdle: true, window, vulnerable_within_hours, updates };
}

describe("during its window an environment gets", () => {
  it("all plugins together, then its themes", () => {
    const theme = update("leaf", { kind: "theme" });
    expect(nextUpdate(environment([update("a"), update("b"), theme]), night)).toEqual({
      kind: "plugin",
      names: ["a", "b"],
    });
    expect(nextUpdate(environment([theme]), night)).toEqual({ kind: "theme", names: ["leaf"] });
  });

  it("packages that failed together one by one, after the others", () => {
    const failed = [update("a", { tried_among: 2 }), update("b", { tried_among: 2 })];
    expect(nextUpdate(environment([...failed, update("c")]), night)?.names).toEqual(["c"]);
    expect(nextUpdate(environment(failed), night)?.names).toEqual(["a"]);
  });

  it("nothing if nothing is due", () => {
    expect(nextUpdate(environment([]), night)).toBe(null);
  });
});

describe("outside its window an environment gets", () => {
  it("only updates of vulnerable packages", () => {
    expect(nextUpdate(environment([update("a")], 1), noon)).toBe(null);
  });

  // The next window opens in 14 hours.
  it.each([
    ["nothing if the window opens before the deadline", 24, 1, null],
    ["an update whose deadline is before the window", 12, 1, ["bad"]],
    ["an update whose deadline has long passed", 24, 100, ["bad"]],
    ["an update that would be late by a minute", 15, 1, ["bad"]],
  ])("%s", (_, within, knownForHours, names) => {
    const bad = update("bad", { vulnerable_since: hoursBefore(noon, knownForHours) });
    expect(nextUpdate(environment([update("a"), bad], within), noon)?.names ?? null).toEqual(names);
  });

  it("no vulnerable package either if no deadline is configured", () => {
    const bad = update("bad", { vulnerable_since: hoursBefore(noon, 100) });
    expect(nextUpdate(environment([bad]), noon)).toBe(null);
  });
});
