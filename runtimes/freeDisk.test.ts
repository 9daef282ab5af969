import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freeDisk, freeDiskSync } from "./freeDisk.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "free-disk-"));
});
afterAll(() => rm(folder, { recursive: true }));

test("sites may use what is free beyond the reserve, which may be nothing", async () => {
  const { blocks, bsize } = await statfs(folder);
  expect(await freeDisk({ folder, bytes: 0 })).toBeGreaterThan(0);
  expect(await freeDisk({ folder, bytes: blocks * bsize })).toBeLessThan(0);
  expect(freeDiskSync({ folder, bytes: blocks * bsize })).toBeLessThan(0);
});

test("the disk is known before the first site has made the folder", async () => {
  expect(await freeDisk({ folder: path.join(folder, "environments"), bytes: 0 })).toBeGreaterThan(0);
});
