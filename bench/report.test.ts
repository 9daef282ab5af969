import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { folderBytes } from "./folderBytes.ts";
import { atMost, atMostBytes } from "./report.ts";

test("a figure at its target meets it, a figure above does not", () => {
  expect(atMost("x", 20, 20)).toEqual({ name: "x", measured: "20 ms", target: "≤ 20 ms", isMet: true });
  expect(atMost("x", 20.5, 20).isMet).toBe(false);
  const bytes = { name: "x", measured: "1.50 MB", target: "≤ 1.00 MB", isMet: false, reference: "them" };
  expect(atMostBytes("x", 1.5e6, 1e6, "them")).toEqual(bytes);
});

test("a figure without a target always meets it", () => {
  expect(atMost("x", 20, Infinity)).toMatchObject({ target: "–", isMet: true });
  expect(atMostBytes("x", 20, Infinity, "")).toMatchObject({ target: "–", isMet: true });
});

test("folderBytes counts all files below the folder, and is 0 if there is no folder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "swbytes-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "deep", "er"), { recursive: true });
  await writeFile(join(folder, "a"), "abc");
  await writeFile(join(folder, "deep", "er", "b"), "defgh");
  expect(await folderBytes(folder)).toBe(8);
  expect(await folderBytes(join(folder, "nowhere"))).toBe(0);
});
