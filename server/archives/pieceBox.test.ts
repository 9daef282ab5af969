import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { makePieceBox, PieceDamaged, pieceBytes } from "./pieceBox.ts";

const key = randomBytes(32);
const box = makePieceBox(key, "company");

test.each([0, 1, 1000, pieceBytes])("a piece of %d bytes can be sealed and opened", (length) => {
  for (const content of [randomBytes(length), Buffer.alloc(length, "text ")]) {
    const name = box.nameOf(content);
    expect(box.open(box.seal(content, name), name).equals(content)).toBe(true);
  }
});

test("a sealed piece reveals nothing of the content, and is compressed", () => {
  const content = Buffer.from("define( 'DB_PASSWORD', 'hunter2' );".repeat(100));
  const sealed = box.seal(content, box.nameOf(content));
  expect(sealed.includes("hunter2")).toBe(false);
  expect(sealed.length).toBeLessThan(200);
});

test("a content has one name within a company, and different names in other companies and installations", () => {
  const content = Buffer.from("logo");
  const name = makePieceBox(key, "company").nameOf(content);
  expect(box.nameOf(content).equals(name)).toBe(true);
  expect(makePieceBox(key, "other").nameOf(content).equals(name)).toBe(false);
  expect(makePieceBox(randomBytes(32), "company").nameOf(content).equals(name)).toBe(false);
});

test("any flipped bit is detected", () => {
  const content = Buffer.from("short");
  const name = box.nameOf(content);
  const sealed = box.seal(content, name);
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const flipped = Buffer.from(sealed);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(() => box.open(flipped, name)).toThrow(PieceDamaged);
  }
  for (const cut of [0, 5, 28, sealed.length - 1]) {
    expect(() => box.open(sealed.subarray(0, cut), name)).toThrow(PieceDamaged);
  }
});

test("a piece does not pass for another piece or another company's", () => {
  const [one, two] = [Buffer.from("one"), Buffer.from("two")];
  const sealed = box.seal(one, box.nameOf(one));
  expect(() => box.open(sealed, box.nameOf(two))).toThrow(PieceDamaged);
  const other = makePieceBox(key, "other");
  expect(() => other.open(sealed, other.nameOf(one))).toThrow(PieceDamaged);
  expect(() => other.open(sealed, box.nameOf(one))).toThrow(PieceDamaged);
});

test("content whose beginning is incompressible is stored uncompressed, with little overhead", () => {
  const [random, text] = [randomBytes(pieceBytes), Buffer.alloc(pieceBytes / 2, "text ")];
  const mixed = Buffer.concat([random.subarray(pieceBytes / 2), text]);
  for (const content of [random, mixed]) {
    const name = box.nameOf(content);
    const sealed = box.seal(content, name);
    expect(sealed.length).toBeLessThan(content.length + 40);
    expect(box.open(sealed, name).equals(content)).toBe(true);
  }
});
