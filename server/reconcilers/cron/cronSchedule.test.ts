import { describe, expect, test } from "vitest";
import { type CronCandidate, dueCandidates, turnOf } from "./cronSchedule.ts";

const now = Date.parse("2026-11-22T12:00:00Z");
const minute = 60_000;

interface Case {
  /** In minutes from now; negative: it is overdue. */
  readonly due?: readonly number[];
  /** In minutes from now. */
  readonly began?: number;
  /** Null: nobody has seen its end. */
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

describe("whose turn is when", () => {
  test.each<[string, Case, number | null]>([
    ["who plans nothing never has one", {}, null],
    ["what is due in a while waits", { due: [5] }, 5],
    ["what is overdue has had it since", { due: [-5] }, -5],
    ["of several sites the first counts", { due: [3, -2, 9] }, -2],
    ["nobody is run twice within a minute", { due: [-5], began: -0.5 }, 0.5],
    ["what was due long ago waits from its last run on", { due: [-500], began: -3 }, -2],
    ["what is under way is not begun again", { due: [-5], began: -1, ended: null }, 1],
    ["what was killed with its process is, later", { due: [-5], began: -3, ended: null }, -1],
    ["after a failure it waits two minutes", { due: [-5], began: -1, failures: 1 }, 1],
    ["after more it waits longer", { due: [-5], began: -1, failures: 4 }, 15],
    ["but an hour at most", { due: [-5], began: 0, failures: 40 }, 60],
    ["a new environment is left alone for a minute", { due: [-5], created: -0.25 }, 0.75],
    ["but not longer, nor where it was made in the future", { due: [-5], created: 3 }, -5],
    ["a run in the future says nothing: the clock was put back", { due: [-5], began: 600, failures: 3 }, -5],
    ["nor does an end in the future", { due: [-5], began: -3, ended: 600, failures: 0 }, -2],
    ["a clock that was put forward makes all of it due", { due: [-100_000], began: -100_000 }, -99_999],
  ])("%s", (_, given, expected) => {
    const turn = turnOf(candidate(given), now);
    expect(turn === null ? null : (turn - now) / minute).toBe(expected);
  });
});

test("whoever has waited longest is first; those whose turn has not come are left out", () => {
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

test("those that always have something due do not keep others waiting for ever", () => {
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
  throw new Error("It never had its turn.");
});
