import { randomBytes } from "node:crypto";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { NamedPieces } from "./namedPieces.ts";
import { makePieceBox } from "./pieceBox.ts";
import { openPieceMaker } from "./pieceMaker.ts";
import type { FilePart } from "./pieceSource.ts";

const box = makePieceBox(randomBytes(32), "company");
const contents = [randomBytes(1 << 20), Buffer.from("words ".repeat(10_000)), Buffer.from("x"), randomBytes(5_000)];
const named = contents.map((content) => ({ name: box.nameOf(content), bytes: content.length }));

async function fileOf(content: Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "swpieces-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "file");
  await writeFile(file, content);
  return file;
}

function partOf(file: string, start: number, bytes: number): FilePart {
  return { file: Buffer.from(file), path: "the file", start, bytes };
}

async function openedOf({ pieces, seal }: NamedPieces, places: readonly number[]): Promise<readonly Buffer[]> {
  const { content, lengths, done } = await seal(places);
  let start = 0;
  const opened = lengths.map((length, at) => {
    start += length;
    return box.open(content.subarray(start - length, start), pieces[places[at] ?? -1]?.name ?? Buffer.of());
  });
  expect(start).toBe(content.length);
  done();
  return opened;
}

describe.each([
  ["in this thread", 0],
  ["by worker threads", 1 << 30],
])("pieces are made %s", (_, bytes) => {
  function open() {
    const maker = openPieceMaker(box);
    maker.expect(bytes);
    onTestFinished(() => maker.close());
    return maker;
  }

  test("with names derived from their contents", async () => {
    expect((await open().name(contents)).pieces).toMatchObject(named);
  });

  test("and sealed selectively, in the requested order", async () => {
    const made = await open().name(contents);
    expect(await openedOf(made, [3, 0, 1])).toEqual([contents[3], contents[0], contents[1]]);
  });

  test("of empty batches", async () => {
    const made = await open().name([]);
    expect([made.pieces, await openedOf(made, [])]).toEqual([[], []]);
  });

  test("of several batches in parallel", async () => {
    const maker = open();
    const batches = Array.from({ length: 5 }, (_each, batch) =>
      contents.map((content) => Buffer.concat([content, Buffer.of(batch)])),
    );
    const made = await Promise.all(batches.map((batch) => maker.name(batch)));
    const opened = await Promise.all(made.toReversed().map((each) => openedOf(each, [0, 1, 2, 3])));
    expect(opened.toReversed()).toEqual(batches);
  });

  test("of parts of files, up to the end of the file", async () => {
    const content = randomBytes(5_000);
    const file = await fileOf(content);
    await truncate(file, 4_000);
    const made = await open().name([partOf(file, 0, 1_500), partOf(file, 1_500, 3_500), partOf(file, 4_500, 500)]);
    expect(made.pieces.map((piece) => piece?.bytes)).toEqual([1_500, 2_500, 0]);
    expect(Buffer.concat(await openedOf(made, [0, 1]))).toEqual(content.subarray(0, 4_000));
  });

  test("not of a file that has vanished, or whose folder is a file", async () => {
    const file = await fileOf(randomBytes(10));
    const made = await open().name([
      partOf(`${file}s`, 0, 10),
      partOf(join(file, "below"), 0, 10),
      partOf(file, 0, 10),
    ]);
    expect(made.pieces.map((piece) => piece?.bytes)).toEqual([undefined, undefined, 10]);
    expect(await openedOf(made, [2])).toHaveLength(1);
  });

  test("not of an unreadable file, with the system's error", async () => {
    const maker = open();
    await expect(maker.name([partOf(tmpdir(), 0, 10)])).rejects.toMatchObject({ code: "EISDIR" });
    expect((await maker.name(contents)).pieces).toMatchObject(named);
  });

  test("not of positions that were not named", async () => {
    const { seal } = await open().name(contents);
    await expect(seal([4])).rejects.toThrow();
  });
});

test("calls reject when the thread has ended", async () => {
  const maker = openPieceMaker(box);
  maker.expect(1 << 30);
  const waiting = Promise.allSettled([maker.name(contents), maker.name(contents), maker.name(contents)]);
  await maker.close();
  for (const end of await waiting) expect(end).toMatchObject({ status: "rejected", reason: { message: /ended/ } });
  await expect(maker.name(contents)).rejects.toThrow("ended");
});
