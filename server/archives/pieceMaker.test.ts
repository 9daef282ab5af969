import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { makePieceBox } from "./pieceBox.ts";
import { openPieceMaker } from "./pieceMaker.ts";

const box = makePieceBox(randomBytes(32), "company");
const contents = [randomBytes(1 << 20), Buffer.from("words ".repeat(10_000)), Buffer.from("x"), randomBytes(5_000)];

function open(bytes: number) {
  const maker = openPieceMaker(box, bytes);
  onTestFinished(() => maker.close());
  return maker;
}

describe.each([
  ["in this thread, where there is little", 0],
  ["by a thread of their own, where there is much", 1 << 30],
])("pieces are made %s", (_, bytes) => {
  test("under the names that their contents have", async () => {
    expect(await open(bytes).name(contents)).toEqual(contents.map((content) => box.nameOf(content)));
  });

  test("so that they can be opened, those that are wanted and in that order", async () => {
    const maker = open(bytes);
    const names = await maker.name(contents);
    const sealed = await maker.seal([3, 0, 1]);
    const opened = [3, 0, 1].map((place, at) => box.open(sealed[at] ?? Buffer.of(), names[place] ?? Buffer.of()));
    expect(opened).toEqual([contents[3], contents[0], contents[1]]);
  });

  test("of nothing, too", async () => {
    const maker = open(bytes);
    expect([await maker.name([]), await maker.seal([])]).toEqual([[], []]);
  });

  test("of what was named last", async () => {
    const maker = open(bytes);
    await maker.name(contents);
    const [name = Buffer.of()] = await maker.name([Buffer.from("new")]);
    const [sealed = Buffer.of()] = await maker.seal([0]);
    expect(box.open(sealed, name).toString()).toBe("new");
  });

  test("of nothing that was not named: whoever asks hears of it", async () => {
    const maker = open(bytes);
    await maker.name(contents);
    await expect(maker.seal([4])).rejects.toThrow();
  });
});

test("whoever waits for a thread that is ended hears of it", async () => {
  const maker = open(1 << 30);
  const waiting = maker.name(contents);
  const rejected = expect(waiting).rejects.toThrow("ended");
  await maker.close();
  await rejected;
  await expect(maker.name(contents)).rejects.toThrow("ended");
});
