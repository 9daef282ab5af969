import { afterEach, beforeEach, expect, test } from "vitest";
import { findNewestBackup } from "../../store/backups/backups.ts";
import { backingUp } from "../../testing/backups.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

test("the result of a manual backup is the backup's id", async () => {
  const request = await backingUp.prepare(world);
  const { state, result } = await withEngine(world, (harness) => harness.submit(request));
  const backup = await findNewestBackup(world.own.database, request.environmentId ?? "");
  expect(backup).not.toBeNull();
  expect({ state, result }).toEqual({ state: "succeeded", result: { backup_id: backup?.id } });
});
