import { expect, test } from "vitest";
import { createPieceLimit, TooManyPieces } from "./tinyPieces.ts";

function send(pieces: number, bytes: number, limit = createPieceLimit()): typeof limit {
  for (let sent = 0; sent < pieces; sent += 1) limit(bytes);
  return limit;
}

test.each([
  { pieces: 4_096, bytes: 1 },
  { pieces: 1_000_000, bytes: 32 },
])("$pieces pieces of $bytes bytes are received", ({ pieces, bytes }) => {
  expect(() => send(pieces, bytes)).not.toThrow();
});

test("many more pieces are refused if they are tiny on average", () => {
  expect(() => send(4_097, 1)).toThrow(TooManyPieces);
  const limit = send(4_096, 40);
  expect(() => send(1_000, 1, limit)).not.toThrow();
  expect(() => send(1_000, 1, limit)).toThrow(TooManyPieces);
});
