import { describe, expect, test } from "vitest";
import { type CronCandidate, dueCandidates, dueTime } from "./cronSchedule.ts";

const now = Date.parse("2026-11-22T12:00:00Z");
const minute = 60_000;

interface Case {
  /** In minutes from now; negative if overdue. */
  readonly due?: readonly number[];
  /** In minutes from now. */
  readonly began?: number;
  /** Null if the end was not recorded. */
  readonly ended?: number | null;
  readonly failures?: number;
  /** In minutes from now. */
  readonly created?: number;
}

function candidate(
  { due = [], began, ended = began ?? null, failures = 0, created = -10_000_000 }: Case,
  id = "one",
): CronCandidate {
  const date = (minutes: number) => new Date(now + minutes * minute);
  const endedAt = ended === null ? null : date(ended);
  return {
    id,
    createdAt: date(created),
    events: due.map((minutes) => ({ place: null, dueAt: now + minutes * minute })),
    lastRun: began === undefined ? null : { beganAt: date(began), endedAt, failures },
  };
}

describe("the due time", () => {
  test.each<[string, Case, number | null]>([
    ["is null without events", {}, null],
    ["is that of the next event", { due: [5] }, 5],
    ["may be in the past", { due: [-5] }, -5],
    ["is that of the first of several sites", { due: [3, -2, 9] }, -2],
    ["is at least a minute after the last run", { due: [-5], began: -0.5 }, 0.5],
    ["of an event that was due long ago counts from the last run", { due: [-500], began: -3 }, -2],
    ["is later while a run is under way", { due: [-5], began: -1, ended: null }, 1],
    ["is two minutes after a run whose process was killed", { due: [-5], began: -3, ended: null }, -1],
    ["is two minutes after a failure", { due: [-5], began: -1, failures: 1 }, 1],
    ["is later after more failures", { due: [-5], began: -1, failures: 4 }, 15],
    ["is an hour after many failures at most", { due: [-5], began: 0, failures: 40 }, 60],
    ["of a new environment is a minute after its creation", { due: [-5], created: -0.25 }, 0.75],
    ["ignores a creation in the future", { due: [-5], created: 3 }, -5],
    ["ignores a run in the future: the clock was set back", { due: [-5], began: 600, failures: 3 }, -5],
    ["ignores an end in the future", { due: [-5], began: -3, ended: 600, failures: 0 }, -2],
    ["is in the past if the clock was set forward", { due: [-100_000], began: -100_000 }, -99_999],
  ])("%s", (_, given, expected) => {
    const due = dueTime(candidate(given), now);
    expect(due === null ? null : (due - now) / minute).toBe(expected);
  });
});

test("due candidates are returned, the longest waiting first", () => {
  const all = [
    candidate({ due: [-1] }, "young"),
    candidate({ due: [1] }, "later"),
    candidate({ due: [-9] }, "old"),
    candidate({ due: [-900], began: -2 }, "always due"),
    candidate({ due: [-900], began: -0.9 }, "just run"),
    candidate({ due: [0] }, "now"),
  ];
  expect(dueCandidates(all, now).map(({ id }) => id)).toEqual(["old", "young", "always due", "now"]);
});

test("environments that always have due events do not block others", () => {
  let time = now;
  const greedy = new Map(["a", "b", "c"].map((id) => [id, time - 10 * minute]));
  for (let round = 0; round < 100; round += 1) {
    time += 20_000;
    const busy = [...greedy].map(([id, began]) => ({
      id,
      createdAt: new Date(0),
      events: [{ place: null, dueAt: 0 }],
      lastRun: { beganAt: new Date(began), endedAt: new Date(began), failures: 0 },
    }));
    const patient = { id: "patient", createdAt: new Date(0), events: [{ place: null, dueAt: now }], lastRun: null };
    const [first] = dueCandidates([...busy, patient], time);
    if (first?.id === "patient") return expect(round).toBeLessThan(4);
    if (first !== undefined) greedy.set(first.id, time);
  }
  throw new Error("It was never run.");
});
