import { expect, it } from "vitest";
import { totalOf } from "./totals.ts";

/** `items` of a list are read from `offset`, and the list has `counted` rows when they are counted. */
interface Case {
  readonly limit: number;
  readonly offset: number;
  readonly items: string;
  readonly counted: number | null;
  readonly total: number;
}

const total = ({ limit, offset, items, counted }: Case) =>
  totalOf({ limit, offset }, [...items], async () => {
    if (counted === null) throw new Error("Counted although the part shows the total");
    return counted;
  });

it.each<Case>([
  { limit: 3, offset: 0, items: "", counted: null, total: 0 },
  { limit: 3, offset: 0, items: "ab", counted: null, total: 2 },
  { limit: 3, offset: 6, items: "g", counted: null, total: 7 },
])("needs no second query for the last part of a list: %o", async (part) => {
  expect(await total(part)).toBe(part.total);
});

it.each<Case>([
  { limit: 3, offset: 0, items: "abc", counted: 7, total: 7 },
  { limit: 3, offset: 9, items: "", counted: 7, total: 7 },
  { limit: 0, offset: 0, items: "", counted: 7, total: 7 },
  { limit: 0, offset: 9, items: "", counted: 7, total: 7 },
])("counts the rows otherwise: %o", async (part) => {
  expect(await total(part)).toBe(part.total);
});

it.each<Case>([
  { limit: 3, offset: 3, items: "def", counted: 5, total: 6 },
  { limit: 3, offset: 9, items: "", counted: 10, total: 9 },
])("agrees with the part when rows were added or deleted meanwhile: %o", async (part) => {
  expect(await total(part)).toBe(part.total);
});
