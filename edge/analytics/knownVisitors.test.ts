import { describe, expect, test } from "vitest";
import { createKnownVisitors } from "./knownVisitors.ts";

/** With 100 places. Environments are `company.number`. */
function start() {
  const known = createKnownVisitors(100);
  const add = (environment: number, visitor: number) =>
    known.add({ company: Math.floor(environment), environment: environment * 10, visitor });
  /** Adds visitors with the numbers from `first` on. Returns how many were counted. */
  const many = (environment: number, count: number, first = 0) =>
    Array.from({ length: count }, (_, index) => add(environment, first + index)).filter(Boolean).length;
  return { add, many };
}

test("a visitor is new once in each environment", () => {
  const { add } = start();
  expect([add(1, 7), add(1, 7), add(1.1, 7), add(2, 7)]).toEqual([true, false, true, true]);
});

describe("when all places are used", () => {
  test("the company that has used them gets no more, and others get their share", () => {
    const { many } = start();
    expect(many(1, 150)).toBe(100);
    expect(many(2, 80)).toBe(50);
    expect(many(3, 80)).toBe(33);
  });

  test("a company's environments share its places, however many it has", () => {
    const { many } = start();
    for (const environment of [1, 1.1, 1.2, 1.3]) expect(many(environment, 25)).toBe(25);
    expect(many(1.4, 80)).toBe(20);
    expect(many(2, 80)).toBe(50);
  });

  test("visitors that were forgotten are not counted again", () => {
    const { many } = start();
    many(1, 100);
    many(2, 40);
    expect(many(1, 100)).toBe(0);
    many(1.1, 20, 1_000);
    expect([many(1, 100), many(1.1, 20, 1_000), many(2, 40)]).toEqual([0, 0, 0]);
  });
});
