/** The thread of `pieceMaker.ts`. Its data are the keys of a company's pieces; it does one order at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { pieceBoxOf } from "./pieceBox.ts";
import type { MadePieces, PieceOrder } from "./pieceMaker.ts";

const box = pieceBoxOf(workerData);
let pieces: readonly { readonly content: Buffer; readonly name: Buffer }[] = [];

function make(order: PieceOrder): readonly Buffer[] {
  if ("name" in order) {
    const contents = order.name.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    pieces = contents.map((content) => ({ content, name: box.nameOf(content) }));
    return pieces.map(({ name }) => name);
  }
  return order.seal.map((place) => {
    const piece = pieces[place];
    if (piece === undefined) throw new RangeError(`Nothing was named at ${place}`);
    return box.seal(piece.content, piece.name);
  });
}

/** All in one piece of memory, which can be handed over instead of being copied. */
function together(made: readonly Buffer[]): MadePieces & { readonly bytes: Uint8Array<ArrayBuffer> } {
  const lengths = made.map(({ length }) => length);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let start = 0;
  for (const piece of made) {
    bytes.set(piece, start);
    start += piece.length;
  }
  return { bytes, lengths };
}

parentPort?.on("message", (order: PieceOrder) => {
  const answer = together(make(order));
  parentPort?.postMessage(answer, [answer.bytes.buffer]);
});
