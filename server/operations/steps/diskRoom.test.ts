import { expect, test } from "vitest";
import { requireRoom, requireWithinQuota } from "./diskRoom.ts";

const environment = { id: "e", number: 1 };
const whole = { environment, files: 1, database: 1 };
const withUse = (free: number) => ({ diskUse: async () => ({ files: 300e6, database: 100e6, free }) });

test("a copy that fits is begun", async () => {
  await requireRoom(withUse(451e6), { copies: [whole] }, "The copy");
  await requireRoom({ diskUse: async () => null }, { copies: [whole] }, "The copy");
});

test("a copy that does not fit is refused with the numbers", async () => {
  await expect(requireRoom(withUse(449e6), { copies: [whole] }, "The copy")).rejects.toThrow(
    "The copy needs about 450 MB on the server's disk, and 449 MB are free. Nothing was changed.",
  );
  await expect(requireRoom(withUse(800e6), { copies: [whole, whole] }, "The push")).rejects.toThrow("about 850 MB");
  const more = { copies: [whole], moreBytes: 1 };
  await expect(requireRoom(withUse(450e6), more, "The restore")).rejects.toThrow("The restore needs about 451 MB");
});

test("only what is written again is counted", async () => {
  const database = { environment, files: 0, database: 2 };
  await requireRoom(withUse(250e6), { copies: [database] }, "The push");
  await expect(requireRoom(withUse(249e6), { copies: [database] }, "The push")).rejects.toThrow("about 250 MB");
  await requireRoom(withUse(80e6), { copies: [{ environment, files: 0.1, database: 0 }] }, "The push");
});

test("what comes from elsewhere is held against the room of the disk that it is put on", async () => {
  const room = { copies: [], moreBytes: 100e6 };
  await requireRoom(withUse(0), { ...room, freeBytes: 150e6 }, "Bringing the site back");
  await expect(requireRoom(withUse(0), { ...room, freeBytes: 149e6 }, "Bringing the site back")).rejects.toThrow(
    "Bringing the site back needs about 150 MB on the server's disk, and 149 MB are free.",
  );
});

test("what would be larger than its quota is refused with the numbers", () => {
  requireWithinQuota(500e6, null, "The push");
  requireWithinQuota(500e6, 500e6, "The push");
  expect(() => requireWithinQuota(500e6 + 1, 500e6, "The push")).toThrow(
    "The push would make the environment 501 MB large, and its disk quota is 500 MB. Nothing was changed.",
  );
});
