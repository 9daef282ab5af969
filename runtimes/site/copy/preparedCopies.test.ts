import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Template } from "../template.ts";
import { prepareCopies } from "./preparedCopies.ts";

let root = "";
let template: Template;
let isDone = false;
beforeEach(async () => {
  isDone = false;
  root = await mkdtemp(path.join(tmpdir(), "ready-"));
  template = { folder: path.join(root, "template"), wordpressVersion: "7.1.1", places: [] };
  for (const part of ["public", "database"]) {
    await mkdir(path.join(template.folder, part), { recursive: true });
    await writeFile(path.join(template.folder, part, "mine"), part);
  }
});
afterEach(async () => {
  isDone = true;
  await rm(root, { recursive: true, maxRetries: 5 });
});

const folder = () => path.join(root, "ready");
const keep = () =>
  prepareCopies({
    folder: folder(),
    count: 2,
    template: async () => {
      if (isDone) throw new Error("The test is done.");
      return template;
    },
  });

async function release(name: string): Promise<string> {
  await mkdir(path.join(root, name));
  return path.join(root, name);
}

/** Resolves when the folder contains exactly this many copies. */
async function untilReady(count: number): Promise<void> {
  await vi.waitFor(async () => expect(await readdir(folder())).toHaveLength(count), { timeout: 20_000 });
}

test("a copy is taken completely, and replaced", async () => {
  const copies = keep();
  await untilReady(2);
  const [first, second] = [await release("first"), await release("second")];
  await vi.waitFor(async () => expect(await copies.take(template, first)).toBe(true));
  for (const part of ["public", "database"]) expect(await readFile(path.join(first, part, "mine"), "utf8")).toBe(part);
  await vi.waitFor(async () => expect(await copies.take(template, second)).toBe(true), { timeout: 20_000 });
}, 30_000);

test("no copy is given for another template, or before one is ready", async () => {
  const copies = keep();
  const target = await release("target");
  expect(await copies.take(template, target)).toBe(false);
  await untilReady(2);
  expect(await copies.take({ ...template, folder: path.join(root, "other") }, target)).toBe(false);
  expect(await readdir(target)).toEqual([]);
}, 30_000);

test("leftovers of an earlier process are never used", async () => {
  await mkdir(path.join(folder(), "old", "public"), { recursive: true });
  keep();
  await untilReady(2);
  expect(await readdir(folder())).not.toContain("old");
}, 30_000);

test("a copy that can't be moved is removed, and the target stays unchanged", async () => {
  const copies = keep();
  await untilReady(2);
  const full = await release("full");
  await writeFile(path.join(full, "there"), "already");
  expect(await copies.take(template, full)).toBe(false);
  expect(await readdir(full)).toEqual(["there"]);
  expect(await readdir(folder())).toHaveLength(1);
}, 30_000);
