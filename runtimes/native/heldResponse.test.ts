import { createHash } from "node:crypto";
import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { holdContent } from "./heldResponse.ts";

const megabyte = 1 << 20;
let folder: string;
beforeEach(async () => {
  const parent = await mkdtemp(path.join(tmpdir(), "held-"));
  onTestFinished(() => rm(parent, { recursive: true }));
  folder = path.join(parent, "layers");
});

/** Megabytes that differ from each other. */
const pieces = (count: number) => Array.from({ length: count }, (_, index) => Buffer.alloc(megabyte, index));
const sumOf = (content: Buffer) => createHash("sha256").update(content).digest("hex");

/** Files of the folder that this process has open. */
async function openFiles(): Promise<number> {
  const names = await readdir("/proc/self/fd");
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
  return targets.filter((target) => target.startsWith(`${folder}/`)).length;
}

function hold(source: Readable, reservedBytes = 0) {
  let excesses = 0;
  const options = {
    folder,
    reserve: { folder: tmpdir(), bytes: reservedBytes },
    onExcess: () => {
      excesses += 1;
    },
  };
  return { content: holdContent(source, options), excesses: () => excesses };
}

test.each([0, 1, 16, 17, 40])("a content of %i MB is the same afterwards, and no file is left", async (count) => {
  const all = pieces(count);
  const content = await hold(Readable.from(all)).content;
  if (content === null) throw new Error("There is no content.");
  expect(await openFiles()).toBe(count > 16 ? 1 : 0);
  expect(sumOf(await buffer(content))).toBe(sumOf(Buffer.concat(all)));
  await expect.poll(openFiles).toBe(0);
  expect(await readdir(folder).catch(() => [])).toEqual([]);
});

test("the file is closed if the content is not read", async () => {
  const content = await hold(Readable.from(pieces(20))).content;
  expect(await openFiles()).toBe(1);
  content?.destroy();
  await expect.poll(openFiles).toBe(0);
});

test("there is no content if it breaks off, which is no excess", async () => {
  const source = new PassThrough();
  const { content, excesses } = hold(source);
  for (const piece of pieces(20))
    if (!source.write(piece)) await new Promise((resolve) => source.once("drain", resolve));
  source.destroy(new Error("It broke off."));
  expect([await content, excesses(), await openFiles()]).toEqual([null, 0, 0]);
});

test.each([
  ["there is no room left on the disk", 40, Number.MAX_SAFE_INTEGER],
  ["it is longer than 1 GB", 1_100, 0],
])("there is no content if %s, and the source is not read on", async (_, count, reservedBytes) => {
  const piece = Buffer.alloc(megabyte);
  const source = Readable.from(Array.from({ length: count }, () => piece));
  const { content, excesses } = hold(source, reservedBytes);
  expect([await content, excesses(), await openFiles()]).toEqual([null, 1, 0]);
  expect(source.destroyed).toBe(true);
});
