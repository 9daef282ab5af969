import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createHeldBudget, type HeldBudget, holdContent } from "./heldResponse.ts";

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

const budgetOf = (companyMegabytes: number, totalMegabytes = companyMegabytes) =>
  createHeldBudget({ companyBytes: companyMegabytes * megabyte, totalBytes: totalMegabytes * megabyte });

interface Holding {
  readonly companyId?: string;
  readonly budget?: HeldBudget;
  readonly reservedBytes?: number;
}

function hold(source: Readable, { companyId = "a", budget = budgetOf(40), reservedBytes = 0 }: Holding = {}) {
  let excesses = 0;
  const options = {
    companyId,
    budget,
    folder,
    reserve: { folder: tmpdir(), bytes: reservedBytes },
    onExcess: () => {
      excesses += 1;
    },
  };
  const content = holdContent(source, options);
  onTestFinished(async () => void (await content)?.destroy());
  return { content, excesses: () => excesses };
}

/** Breaks off after 20 MB. */
async function breakOff(source: PassThrough): Promise<void> {
  for (const piece of pieces(20)) if (!source.write(piece)) await once(source, "drain");
  source.destroy(new Error("It broke off."));
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
  await breakOff(source);
  expect([await content, excesses(), await openFiles()]).toEqual([null, 0, 0]);
});

test.each([
  ["there is no room left on the disk", 40, Number.MAX_SAFE_INTEGER],
  ["it is longer than the budget", 41, 0],
])("there is no content if %s, and the source is not read on", async (_, count, reservedBytes) => {
  const source = Readable.from(pieces(count));
  const { content, excesses } = hold(source, { reservedBytes });
  expect([await content, excesses(), await openFiles()]).toEqual([null, 1, 0]);
  expect(source.destroyed).toBe(true);
});

test.each([10, 20])(
  "a content of %i MB counts until it is read or dropped, in memory and in its file",
  async (count) => {
    const budget = budgetOf(count);
    const held: Readable[] = [];
    const holds = async (megabytes: number) => {
      const content = await hold(Readable.from(pieces(megabytes)), { budget }).content;
      if (content !== null) held.push(content);
      return content !== null;
    };
    expect([await holds(count), await holds(1)]).toEqual([true, false]);
    for (const content of held.splice(0)) await buffer(content);
    await expect.poll(() => holds(count)).toBe(true);
    expect(await holds(1)).toBe(false);
    for (const content of held.splice(0)) content.destroy();
    await expect.poll(() => holds(count)).toBe(true);
  },
);

test("a content that breaks off gives back its part of the budget", async () => {
  const budget = budgetOf(20);
  const source = new PassThrough();
  const { content } = hold(source, { budget });
  await breakOff(source);
  expect(await content).toBeNull();
  expect(await hold(Readable.from(pieces(20)), { budget }).content).not.toBeNull();
});

test("a company that has used up its part leaves room for others, and all together have a limit", async () => {
  const budget = budgetOf(20, 30);
  const holds = (companyId: string, count: number) => hold(Readable.from(pieces(count)), { companyId, budget });
  expect(await holds("a", 20).content).not.toBeNull();
  expect(await holds("a", 1).content).toBeNull();
  const { content, excesses } = holds("b", 11);
  expect([await content, excesses()]).toEqual([null, 1]);
  expect(await holds("b", 10).content).not.toBeNull();
  expect(await holds("c", 1).content).toBeNull();
});
