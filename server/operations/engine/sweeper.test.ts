import { describe, expect, test } from "vitest";
import { planSweep, type Unattended } from "./sweeper.ts";

function row(id: string, status: string | null, executor: string | null = null): Unattended {
  return { id, status, executor };
}

describe("planSweep", () => {
  test("nothing to do about nothing", () => {
    expect(planSweep([])).toEqual({ start: [], resume: new Map(), startOver: [] });
  });

  test("what was accepted and never begun is begun", () => {
    expect(planSweep([row("a", null), row("b", null)]).start).toEqual(["a", "b"]);
  });

  test("what is being run by others is resumed only by whom they are found dead, executor by executor", () => {
    const plan = planSweep([row("a", "PENDING", "x"), row("b", "PENDING", "y"), row("c", "PENDING", "x")]);
    expect(plan.resume).toEqual(
      new Map([
        ["x", ["a", "c"]],
        ["y", ["b"]],
      ]),
    );
    expect(plan.start).toEqual([]);
  });

  test.each(["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"])(
    "an operation that runs though its workflow ended with %s is begun anew",
    (status) => {
      expect(planSweep([row("a", status, "x")])).toEqual({ start: [], resume: new Map(), startOver: ["a"] });
    },
  );
});
