/** Queued updates of WordPress: they never downgrade it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { putZip } from "../../testing/packageUpdates.ts";
import { liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { smallCoreZip, wordPressUpdate } from "../../testing/wordpressUpdates.ts";
import { makeWorld, type World } from "../../testing/world.ts";

const from = "7.1.1";
let world: World;
beforeAll(async () => {
  world = await makeWorld();
  for (const version of ["7.1.2", "7.2"]) await putZip(world, `wordpress-${version}.zip`, await smallCoreZip(version));
});
afterAll(() => world[Symbol.asyncDispose]());

/** Requests both updates while the first version is installed, and returns the outcome of the second one. */
async function oneAfterTheOther(first: string, second: string) {
  const site = await liveSite(world);
  const update = (to: string) => ({ ...wordPressUpdate(site, { from, to }), whenBusy: "queue" }) as const;
  const rows = await withEngine(world, async (harness) => {
    const accepted = Promise.withResolvers<void>();
    const before = harness.submit(update(first), () => accepted.resolve());
    await accepted.promise;
    return Promise.all([before, harness.submit(update(second))]);
  });
  expect(rows[0]).toMatchObject({ state: "succeeded", result: { from, to: first } });
  const layout = await world.services.runtime.layout(site.environment);
  return { row: rows[1], release: layout?.release, version: layout?.wordpressVersion };
}

test("a queued update to an older version is rejected", async () => {
  const { row, ...left } = await oneAfterTheOther("7.2", "7.1.2");
  const public_error = "The environment already has WordPress 7.2, and 7.1.2 is not newer.";
  expect(row).toMatchObject({ state: "failed", public_error });
  expect(left).toEqual({ release: 2, version: "7.2" });
});

test("a queued update to the same version is rejected", async () => {
  const { row, ...left } = await oneAfterTheOther("7.2", "7.2");
  expect(row.public_error).toBe("The environment already has WordPress 7.2, and 7.2 is not newer.");
  expect(left).toEqual({ release: 2, version: "7.2" });
});

test("a queued update to a newer version reports the version that it replaced", async () => {
  const { row, ...left } = await oneAfterTheOther("7.1.2", "7.2");
  expect(row).toMatchObject({ state: "succeeded", result: { from: "7.1.2", to: "7.2" } });
  expect(left).toEqual({ release: 3, version: "7.2" });
});
