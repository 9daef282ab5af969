import { expect, test } from "vitest";
import { createPiecePace } from "./tinyPieces.ts";

/** Sends pieces of this size. Returns after how many of them the next one had to wait. */
function send(pieces: number, bytes: number, pace = createPiecePace()): readonly number[] {
  return Array.from({ length: pieces }, (_, index) => index + 1).filter(() => pace(bytes) !== null);
}

test.each([
  { pieces: 4_096, bytes: 1 },
  { pieces: 100_000, bytes: 32 },
])("$pieces pieces of $bytes bytes are received at once", ({ pieces, bytes }) => {
  expect(send(pieces, bytes)).toEqual([]);
});

test("more pieces are received slowly if they are tiny on average", () => {
  expect(send(5_000, 1)).toEqual([4_352, 4_608, 4_864]);
  const pace = createPiecePace();
  send(4_096, 40, pace);
  expect(send(1_400, 1, pace)).toEqual([1_280]);
});
