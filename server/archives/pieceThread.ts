/** A thread that reads, names and seals, one order after the other. Its data are the keys of a company's pieces. */
import { parentPort, workerData } from "node:worker_threads";
import { gone, type MadePieces, type PieceOrder, unread } from "./openPieceThread.ts";
import { pieceBoxOf } from "./pieceBox.ts";
import { type PieceSource, readSourceSync } from "./pieceSource.ts";

const box = pieceBoxOf(workerData);
/** Named and not sealed yet, by the number of their order. */
const batches = new Map<number, readonly Piece[]>();

type Piece = { readonly content: Buffer; readonly name: Buffer } | typeof gone | typeof unread;

function read(source: PieceSource): Piece {
  try {
    const content = readSourceSync(source);
    return content === null ? gone : { content, name: box.nameOf(content) };
  } catch {
    return unread;
  }
}

/** Their names; and how long each content is, or why there is none. */
function nameAll(batch: number, sources: readonly PieceSource[]): MadePieces {
  const pieces = sources.map(read);
  batches.set(batch, pieces);
  const named = pieces.flatMap((piece) => (typeof piece === "number" ? [] : [piece.name]));
  return {
    bytes: together(named),
    lengths: pieces.map((piece) => (typeof piece === "number" ? piece : piece.content.length)),
  };
}

/** How long each is when it is sealed. */
function sealAll(batch: number, places: readonly number[]): MadePieces {
  const pieces = batches.get(batch);
  batches.delete(batch);
  const sealed = places.map((place) => {
    const piece = pieces?.[place];
    if (piece === undefined || typeof piece === "number") throw new RangeError(`Nothing was named at ${place}`);
    return box.seal(piece.content, piece.name);
  });
  return { bytes: together(sealed), lengths: sealed.map(({ length }) => length) };
}

/** All in one piece of memory, which can be handed over instead of being copied. */
function together(made: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(made.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const piece of made) {
    bytes.set(piece, start);
    start += piece.length;
  }
  return bytes;
}

parentPort?.on("message", (order: PieceOrder) => {
  const answer = "sources" in order ? nameAll(order.batch, order.sources) : sealAll(order.batch, order.places);
  parentPort?.postMessage(answer, [answer.bytes.buffer]);
});
