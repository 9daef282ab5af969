import { expect, test } from "vitest";
import { turns } from "./turns.ts";

test("no more than so many work at once, in the order in which they came, whatever becomes of each", async () => {
  const inTurn = turns(2);
  const begun: number[] = [];
  let now = 0;
  let most = 0;
  const works = Array.from({ length: 20 }, (_, index) =>
    inTurn(async () => {
      begun.push(index);
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      if (index % 3 === 0) throw new Error("failed");
      return index;
    }),
  );
  const settled = await Promise.allSettled(works);
  expect(most).toBe(2);
  expect(begun).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(settled.map(({ status }) => status === "rejected")).toEqual(begun.map((index) => index % 3 === 0));
});
