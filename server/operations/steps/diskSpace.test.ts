import { expect, test } from "vitest";
import { requireDiskSpace } from "./diskSpace.ts";

const environment = { id: "e", number: 1 };
const fullCopy = { environment, files: 1, database: 1 };
const withUse = (free: number) => ({
  diskUse: async () => ({ files: 300e6, database: 100e6, temporary: 0 }),
  freeDisk: async () => free,
});

test("accepts a copy that fits on the disk", async () => {
  await requireDiskSpace(withUse(451e6), { copies: [fullCopy] }, "The copy");
  const isGone = { ...withUse(50e6), diskUse: async () => null };
  await requireDiskSpace(isGone, { copies: [fullCopy] }, "The copy");
});

test("rejects a copy that does not fit, with the numbers", async () => {
  await expect(requireDiskSpace(withUse(449e6), { copies: [fullCopy] }, "The copy")).rejects.toThrow(
    "The copy needs about 450 MB on the server's disk, but only 449 MB are free for sites. Nothing was changed.",
  );
  await expect(requireDiskSpace(withUse(800e6), { copies: [fullCopy, fullCopy] }, "The push")).rejects.toThrow(
    "about 850 MB",
  );
  const more = { copies: [fullCopy], moreBytes: 1 };
  await expect(requireDiskSpace(withUse(450e6), more, "The restore")).rejects.toThrow("The restore needs about 451 MB");
});

test("counts only the parts that are copied", async () => {
  const database = { environment, files: 0, database: 2 };
  await requireDiskSpace(withUse(250e6), { copies: [database] }, "The push");
  await expect(requireDiskSpace(withUse(249e6), { copies: [database] }, "The push")).rejects.toThrow("about 250 MB");
  await requireDiskSpace(withUse(80e6), { copies: [{ environment, files: 0.1, database: 0 }] }, "The push");
});

test("rejects everything that needs space if less than the reserve is free", async () => {
  await requireDiskSpace(withUse(150e6), { copies: [], moreBytes: 100e6 }, "The restore");
  await expect(requireDiskSpace(withUse(-1e9), { copies: [] }, "The new environment")).rejects.toThrow(
    "The new environment needs about 50 MB on the server's disk, but only 0 MB are free for sites.",
  );
});
