import { expect, test } from "vitest";
import { requireRoom } from "./diskRoom.ts";

const environment = { id: "e", number: 1 };
const withUse = (free: number) => ({ diskUse: async () => ({ files: 300e6, database: 100e6, free }) });

test("a copy that fits is begun", async () => {
  await requireRoom(withUse(451e6), [environment], "The copy");
  await requireRoom({ diskUse: async () => null }, [environment], "The copy");
});

test("a copy that does not fit is refused with the numbers", async () => {
  await expect(requireRoom(withUse(449e6), [environment], "The copy")).rejects.toThrow(
    "The copy needs about 450 MB on the server's disk, and 449 MB are free. Nothing was changed.",
  );
  await expect(requireRoom(withUse(800e6), [environment, environment], "The push")).rejects.toThrow("about 850 MB");
});
