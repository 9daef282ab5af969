import { expect, test } from "vitest";
import { createTurns } from "./turns.ts";

test("no more run at once than may, in the order in which they came, and one that fails holds nobody up", async () => {
  const inTurn = createTurns(2);
  const began: number[] = [];
  let running = 0;
  let most = 0;
  const work = (number: number) =>
    inTurn(async () => {
      began.push(number);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (number === 2) throw new Error("two");
      return number;
    });
  const all = await Promise.allSettled([0, 1, 2, 3, 4, 5].map(work));
  expect(all.map(({ status }) => status === "fulfilled")).toEqual([true, true, false, true, true, true]);
  expect(began).toEqual([0, 1, 2, 3, 4, 5]);
  expect(most).toBe(2);
  expect(await inTurn(async () => "later")).toBe("later");
});
