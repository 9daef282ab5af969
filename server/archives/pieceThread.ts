/**
 * A thread that reads, names and seals, one order after the other. Its data are the keys of a company's pieces. It reads into
 * the same memory again and again: new memory for everything would have it, and others, look for what is not used any more.
 */
import { parentPort, workerData } from "node:worker_threads";
import { gone, type MadePieces, type PieceOrder, unread } from "./openPieceThread.ts";
import { nameBytes, pieceBoxOf } from "./pieceBox.ts";
import { bytesToRead, type PieceSource, readSourceSync } from "./pieceSource.ts";

type Piece = { readonly content: Buffer; readonly name: Buffer } | typeof gone | typeof unread;

interface Batch {
  readonly memory: ArrayBuffer;
  readonly pieces: readonly Piece[];
}

const box = pieceBoxOf(workerData);
/** Named and not sealed yet, by the number of their order. */
const batches = new Map<number, Batch>();
const unused: ArrayBuffer[] = [];

function memoryOf(bytes: number): ArrayBuffer {
  const memory = unused.pop();
  return memory !== undefined && memory.byteLength >= bytes ? memory : new ArrayBuffer(bytes);
}

function read(source: PieceSource, memory: Buffer): Piece {
  try {
    const content = readSourceSync(source, memory);
    return content === null ? gone : { content, name: box.nameOf(content) };
  } catch {
    return unread;
  }
}

/** Their names; and how long each content is, or why there is none. */
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

/** How long each is when it is sealed, one after the other in `into`. */
function sealAll(number: number, places: readonly number[], into: Uint8Array): MadePieces {
  const batch = batches.get(number);
  if (batch === undefined) throw new RangeError(`Nothing was named as ${number}`);
  batches.delete(number);
  const sealed = places.map((place) => {
    const piece = batch.pieces[place];
    if (piece === undefined || typeof piece === "number") throw new RangeError(`Nothing was named at ${place}`);
    return box.sealInParts(piece.content, piece.name);
  });
  unused.push(batch.memory);
  return { bytes: new Uint8Array(), lengths: putInto(into, sealed) };
}

/** Returns how long each is. */
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
