import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resettingSite } from "../../testing/resets.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";

const worlds: World[] = [];
beforeAll(async () => {
  worlds.push(await makeWorld());
});
afterAll(() => Promise.all(worlds.map((world) => world[Symbol.asyncDispose]())));

/** Resets a site after `change` to its live environment, and returns the request and the row. */
async function reset(change: (world: World, environmentId: string) => Promise<void> = async () => undefined) {
  const [world] = worlds;
  if (!world) throw new Error("The world is missing");
  return withEngine(world, async (harness) => {
    const request = await resettingSite.prepare(world);
    await change(world, request.environmentId ?? "");
    return { world, request, row: await harness.submit(request) };
  });
}

test("the backup is system-generated, and its note names the reset", async () => {
  const { world, request, row } = await reset();
  expect(row).toMatchObject({ state: "succeeded", result: null });
  expect(await resettingSite.finished(world, request)).toEqual([]);
  const { note, type, operation_id } = await world.own.database
    .selectFrom("backups")
    .selectAll()
    .where("environment_id", "=", request.environmentId)
    .executeTakeFirstOrThrow();
  expect({ note, type, operation_id }).toEqual({
    note: "Before a reset",
    type: "system-generated",
    operation_id: row.id,
  });
});

test("a site with an unreadable database is not changed, and the error says why", async () => {
  const message = "The site's database has no administrator. Mend it, or make a new environment instead.";
  const { world, request, row } = await reset(async ({ facts }, environmentId) => {
    const { script } = createFakeRuntime({ folder: join(facts.dataFolder, "fake") });
    await script.setFaults([{ method: "wordpress", environmentId, when: "before", kind: "fail", message }]);
  });
  expect(row).toMatchObject({ state: "failed", public_error: message });
  expect(await resettingSite.undone(world, request)).toEqual([]);
});

test("a site without WordPress can't be reset", async () => {
  const { row } = await reset(async ({ services: { runtime, publisher } }, id) => {
    const environment = { id, number: 1 };
    await runtime.destroy(environment);
    await runtime.provision({ environment, phpVersion: "8.3", wordpress: null });
    await publisher.publish();
  });
  expect(row.state).toBe("failed");
  expect(row.public_error).toContain("has no WordPress");
});
