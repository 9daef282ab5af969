import { expect, test } from "vitest";
import { createPayerLimiter } from "./payerLimiter.ts";

test("limits each payer separately", async () => {
  const begun: string[] = [];
  const end = Promise.withResolvers<void>();
  const limiter = createPayerLimiter(2);
  const begin = (payer: string, name: string) =>
    limiter.run(payer, async () => {
      begun.push(name);
      await end.promise;
    });
  const all = [...["a1", "a2", "a3", "a4"].map((name) => begin("a", name)), begin("b", "b1")];
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1"]);
  end.resolve();
  await Promise.all(all);
  expect(begun).toEqual(["a1", "a2", "b1", "a3", "a4"]);
});
