/** Operations on environments that have changed since the operation was accepted. */
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeSiteRows } from "../../store/sites/siteStates.ts";
import { cloningEnvironment, modifyingPhpVersion, pushing } from "../../testing/environments.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";

const worlds: World[] = [];
beforeAll(async () => {
  worlds.push(await makeWorld());
});
afterAll(() => Promise.all(worlds.map((world) => world[Symbol.asyncDispose]())));

function firstWorld(): World {
  const [world] = worlds;
  if (!world) throw new Error("The world is missing");
  return world;
}

async function phpOf(world: World, environmentId: string | null) {
  const query = world.own.database.selectFrom("environments").select(["runtime", "php_version"]);
  return query.where("id", "=", environmentId ?? "").executeTakeFirst();
}

test("a failed PHP change restores the version from the start of the operation", async () => {
  const world = firstWorld();
  const request = await modifyingPhpVersion.prepare(world);
  await world.own.database
    .updateTable("environments")
    .set({ php_version: "8.2" })
    .where("id", "=", request.environmentId)
    .execute();
  const row = await withEngine(world, (harness) => harness.submit(request), { failAt: "succeed:before" });
  expect(row.state).toBe("failed");
  expect(await phpOf(world, request.environmentId)).toMatchObject({ php_version: "8.2" });
});

test.each([
  ["its version was changed meanwhile", { php_version: "8.2" }],
  ["its owner opted out meanwhile", { is_opt_out_from_automatic_php_update: true }],
])("an environment does not get an automatic PHP change if %s", async (_, change) => {
  const world = firstWorld();
  const request = await modifyingPhpVersion.prepare(world);
  const automatic = { ...request, input: { ...Object(request.input), onlyFrom: "8.3" } };
  await world.own.database.updateTable("environments").set(change).where("id", "=", request.environmentId).execute();
  const before = await phpOf(world, request.environmentId);
  const row = await withEngine(world, (harness) => harness.submit(automatic));
  expect(row).toMatchObject({
    state: "failed",
    public_error: "The automatic change from PHP 8.3 no longer applies to this environment.",
  });
  expect(await phpOf(world, request.environmentId)).toEqual(before);
});

test("an operation fails if its environment was deleted", async () => {
  const world = firstWorld();
  const request = await modifyingPhpVersion.prepare(world);
  await world.own.database.transaction().execute((transaction) => removeSiteRows(transaction, request.siteId ?? ""));
  const row = await withEngine(world, (harness) => harness.submit(request));
  expect(row).toMatchObject({ state: "failed", public_error: "The environment no longer exists." });
});

test("a copy gets the source's runtime and PHP version at the time of the copy", async () => {
  const world = firstWorld();
  const request = await cloningEnvironment.prepare(world);
  await world.own.database
    .updateTable("environments")
    .set({ runtime: "other", php_version: "8.4" })
    .where("site_id", "=", request.siteId)
    .where("name", "=", "live")
    .execute();
  expect((await withEngine(world, (harness) => harness.submit(request))).state).toBe("succeeded");
  expect(await phpOf(world, request.environmentId)).toEqual({ runtime: "other", php_version: "8.4" });
});

test("an environment is removed from the disk if its site was deleted while it was created", async () => {
  const world = firstWorld();
  const request = await cloningEnvironment.prepare(world);
  await world.own.database.transaction().execute((transaction) => removeSiteRows(transaction, request.siteId ?? ""));
  const row = await withEngine(world, (harness) => harness.submit(request));
  expect(row.state).toBe("failed");
  expect(await world.services.runtime.layout({ id: request.environmentId ?? "", number: 1 })).toBeNull();
});

test("a push changes nothing if the disk becomes full, and the error says so", async () => {
  const world = firstWorld();
  const subject = pushing("all", "all");
  const request = await subject.prepare(world);
  const { script } = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") });
  const message = "There is not enough room on the server's disk.";
  await script.setFaults([{ method: "stage", when: "middle", kind: "fail", message }]);
  const row = await withEngine(world, (harness) => harness.submit(request));
  await script.setFaults([]);
  expect(row).toMatchObject({ state: "failed", public_error: message });
  expect(await subject.undone(world, request)).toEqual([]);
});
