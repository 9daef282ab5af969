import { beforeEach, expect, test } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { forgetServedZones, nextSerials } from "./servedZones.ts";
import { ensureZone } from "./zones.ts";

const world = useTestDatabase();
beforeEach(async () => {
  await world.database.deleteFrom("served_zones").execute();
});

const next = async (serial: number, digest: string, name = "example.com") =>
  (await nextSerials(world.database, [{ name, serial, digest }])).get(name);

test("the serial rises with the records' serial, and with the content if that does not rise", async () => {
  expect(await next(100, "one")).toBe(100);
  expect(await next(100, "one")).toBe(100);
  expect(await next(100, "two")).toBe(101);
  expect(await next(90, "two")).toBe(101);
  expect(await next(90, "one")).toBe(102);
  expect(await next(200, "one")).toBe(200);
});

test("processes that publish different content at the same time get different serials", async () => {
  await next(100, "none");
  const serials = await Promise.all(["one", "two", "three", "four"].map((digest) => next(100, digest)));
  expect(serials.toSorted()).toEqual([101, 102, 103, 104]);
});

test("zones that no longer exist are forgotten", async () => {
  await ensureZone(world.database, null, "kept.example");
  await next(100, "one", "kept.example");
  await next(100, "one", "gone.example");
  await forgetServedZones(world.database);
  const rows = await world.database.selectFrom("served_zones").select("name").execute();
  expect(rows).toEqual([{ name: "kept.example" }]);
});
