import { expect, test } from "vitest";
import { createEnvironmentLimiter } from "./environmentLimiter.ts";

test("limits each environment separately", async () => {
  const begun: string[] = [];
  const end = Promise.withResolvers<void>();
  const limiter = createEnvironmentLimiter(2);
  const begin = (environment: string, name: string) =>
    limiter.run(environment, async () => {
      begun.push(name);
      await end.promise;
    });
  const all = [...["a1", "a2", "a3", "a4"].map((name) => begin("a", name)), begin("b", "b1")];
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1"]);
  end.resolve();
  await Promise.all(all);
  expect(begun).toEqual(["a1", "a2", "b1", "a3", "a4"]);
});
