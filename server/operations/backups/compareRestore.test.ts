import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { comparingRestore } from "../../testing/backups.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test("the comparison names the files that a restore changes and the rows that it loses, and changes nothing", async () => {
  const request = await comparingRestore.prepare(world);
  const row = await withEngine(world, (harness) => harness.submit(request));
  expect(row).toMatchObject({
    state: "succeeded",
    result: {
      files: {
        added: { count: 0 },
        changed: { count: 1, listed: [{ path: "own.txt", bytes: 4 }] },
        removed: { count: 0 },
      },
      rows_lost: [],
    },
  });
  expect(await comparingRestore.finished(world, request)).toEqual([]);
});

test("a missing part of the backup is reported, and nothing is left behind", async () => {
  const request = await comparingRestore.prepare(world);
  await rm(join(world.facts.dataFolder, "archives", "packs"), { recursive: true });
  const row = await withEngine(world, (harness) => harness.submit(request));
  expect(row).toMatchObject({ state: "failed", public_error: expect.stringContaining("can't be restored") });
  expect(await comparingRestore.undone(world, request)).toEqual([]);
});
