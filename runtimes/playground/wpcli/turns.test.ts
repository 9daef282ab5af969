import { expect, test } from "vitest";
import { createTurns } from "./turns.ts";

const { signal } = new AbortController();

test("only so many have a turn, and the next one has it in the order in which they came", async () => {
  const turns = createTurns(1);
  const order: string[] = [];
  const endFirst = await turns.take(signal);
  const second = turns.take(signal).then((end) => [order.push("second"), end] as const);
  const third = turns.take(signal).then((end) => [order.push("third"), end] as const);
  expect(order).toEqual([]);
  endFirst();
  endFirst();
  const [, endSecond] = await second;
  expect(order).toEqual(["second"]);
  endSecond();
  await third;
  expect(order).toEqual(["second", "third"]);
});

test("who gives up waiting takes no turn", async () => {
  const turns = createTurns(1);
  const end = await turns.take(signal);
  const controller = new AbortController();
  const waiting = turns.take(controller.signal);
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  end();
  await expect(turns.take(signal)).resolves.toBeTypeOf("function");
});
