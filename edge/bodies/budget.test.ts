import { describe, expect, test } from "vitest";
import { type Claimant, createBudget } from "./budget.ts";

const limit = 900;

/** Claims in steps of 1 until the budget refuses. Returns how much was claimed. */
function fill(budget: ReturnType<typeof createBudget>, claimant: Claimant): number {
  const claim = budget.claim(claimant);
  for (let bytes = 1; ; bytes += 1) if (!claim.raise(bytes, limit)) return bytes - 1;
}

const payer = (name: string): Claimant => ({ payer: name, network: null });

describe("of a budget", () => {
  test("one payer alone gets half, and those who come later still get something", () => {
    const budget = createBudget();
    expect(fill(budget, payer("a"))).toBe(450);
    expect(["b", "c", "d"].map((name) => fill(budget, payer(name)))).toEqual([225, 112, 56]);
    expect(fill(budget, payer("a"))).toBe(0);
  });

  test("one network gets a third, for whichever payers", () => {
    const budget = createBudget();
    const from = (name: string) => ({ payer: name, network: "192.0.2.1" });
    expect(fill(budget, from("a"))).toBe(300);
    expect(fill(budget, from("b"))).toBe(0);
    expect(fill(budget, { payer: "b", network: "192.0.2.2" })).toBe(200);
  });

  test("everything comes back when claims are released, once", () => {
    const budget = createBudget();
    const claim = budget.claim(payer("a"));
    expect([claim.raise(200, limit), claim.raise(400, limit), claim.raise(100, limit)]).toEqual([true, true, true]);
    expect(budget.held()).toBe(400);
    claim.release();
    claim.release();
    expect([budget.held(), fill(budget, payer("a"))]).toEqual([0, 450]);
  });

  test("a refused claim keeps what it has", () => {
    const budget = createBudget();
    const claim = budget.claim(payer("a"));
    expect([claim.raise(400, limit), claim.raise(451, limit), budget.held()]).toEqual([true, false, 400]);
  });
});
