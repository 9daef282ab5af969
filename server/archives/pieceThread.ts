/**
 * The worker thread that reads, names and seals pieces, one order after the other. Its worker data are a company's keys. It
 * reuses memory for reading, which avoids garbage collection.
 */
import { parentPort, workerData } from "node:worker_threads";
import { type MadePieces, type PieceOrder, unreadable, vanished } from "./openPieceThread.ts";
import { nameBytes, pieceBoxOf } from "./pieceBox.ts";
import { bytesToRead, type PieceSource, readSourceSync } from "./pieceSource.ts";

type Piece = { readonly content: Buffer; readonly name: Buffer } | typeof vanished | typeof unreadable;

interface Batch {
  readonly memory: ArrayBuffer;
  readonly pieces: readonly Piece[];
}

const box = pieceBoxOf(workerData);
/** Batches that are named but not sealed yet. */
const batches = new Map<number, Batch>();
const unused: ArrayBuffer[] = [];

function memoryOf(bytes: number): ArrayBuffer {
  const memory = unused.pop();
  return memory !== undefined && memory.byteLength >= bytes ? memory : new ArrayBuffer(bytes);
}

function read(source: PieceSource, memory: Buffer): Piece {
  try {
    const content = readSourceSync(source, memory);
    return content === null ? vanished : { content, name: box.nameOf(content) };
  } catch {
    return unreadable;
  }
}

/** Returns the names, and the length of each content or why there is none. */
function nameAll(batch: number, sources: readonly PieceSource[]): MadePieces {
  const memory = memoryOf(sources.reduce((sum, source) => sum + bytesToRead(source), 0));
  let used = 0;
  const pieces = sources.map((source) => {
    const bytes = bytesToRead(source);
    used += bytes;
    return read(source, Buffer.from(memory, used - bytes, bytes));
  });
  batches.set(batch, { memory, pieces });
  const named = pieces.flatMap((piece) => (typeof piece === "number" ? [] : [[piece.name]]));
  const bytes = new Uint8Array(named.length * nameBytes);
  putInto(bytes, named);
  const lengths = pieces.map((piece) => (typeof piece === "number" ? piece : piece.content.length));
  return { bytes, lengths };
}

/** Writes the sealed pieces into `into` and returns their lengths. */
function sealAll(number: number, places: readonly number[], into: Uint8Array): MadePieces {
  const batch = batches.get(number);
  if (batch === undefined) throw new RangeError(`There is no batch ${number}`);
  batches.delete(number);
  const sealed = places.map((place) => {
    const piece = batch.pieces[place];
    if (piece === undefined || typeof piece === "number") throw new RangeError(`There is no piece at ${place}`);
    return box.sealInParts(piece.content, piece.name);
  });
  unused.push(batch.memory);
  return { bytes: new Uint8Array(), lengths: putInto(into, sealed) };
}

/** Concatenates the parts into `bytes` and returns the length of each item. */
function putInto(bytes: Uint8Array, made: readonly (readonly Buffer[])[]): readonly number[] {
  let start = 0;
  for (const part of made.flat()) {
    bytes.set(part, start);
    start += part.length;
  }
  return made.map((parts) => parts.reduce((sum, { length }) => sum + length, 0));
}

parentPort?.on("message", (order: PieceOrder) => {
  const answer =
    "sources" in order
      ? nameAll(order.batch, order.sources)
      : sealAll(order.batch, order.places, new Uint8Array(order.into));
  parentPort?.postMessage(answer, [answer.bytes.buffer]);
});
