import { expect, test } from "vitest";
import { createLanes } from "./lanes.ts";

test("of each environment only so many are under way, and none waits for another's", async () => {
  const begun: string[] = [];
  const end = Promise.withResolvers<void>();
  const lanes = createLanes(2);
  const begin = (environment: string, name: string) =>
    lanes.run(environment, async () => {
      begun.push(name);
      await end.promise;
    });
  const all = [...["a1", "a2", "a3", "a4"].map((name) => begin("a", name)), begin("b", "b1")];
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1"]);
  end.resolve();
  await Promise.all(all);
  expect(begun).toEqual(["a1", "a2", "b1", "a3", "a4"]);
});
