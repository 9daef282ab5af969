import { describe, expect, test } from "vitest";
import { planSweep } from "./sweep.ts";

const row = (id: string, runner: string | null) => ({ id, runner });
const none = () => false;

describe("planSweep", () => {
  test("is empty without operations", () => {
    expect(planSweep([], "us", none)).toEqual({ unclaimed: [], dropped: [], others: [] });
  });

  test("finds operations without a runner, in their order", () => {
    expect(planSweep([row("a", null), row("b", null)], "us", none).unclaimed).toEqual(["a", "b"]);
  });

  test("names each other runner once", () => {
    expect(planSweep([row("a", "x"), row("b", "y"), row("c", "x")], "us", none)).toEqual({
      unclaimed: [],
      dropped: [],
      others: ["x", "y"],
    });
  });

  test("finds its own operations that it is not running", () => {
    expect(planSweep([row("a", "us"), row("b", "us")], "us", (id) => id === "a").dropped).toEqual(["b"]);
  });
});
