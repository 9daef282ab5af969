/** The caller's side of a worker thread that names and seals pieces. */
import { Worker } from "node:worker_threads";
import type { NamedPiece, PieceThread } from "./namedPieces.ts";
import { maxOverhead, nameBytes, type PieceBox } from "./pieceBox.ts";
import { type PieceSource, readSource } from "./pieceSource.ts";

/** A message to the thread. `batch` is chosen by the caller. Each batch is sealed once and then released. */
export type PieceOrder =
  | { readonly batch: number; readonly sources: readonly PieceSource[] }
  | { readonly batch: number; readonly places: readonly number[]; readonly into: SharedArrayBuffer };

/** The thread's answer: concatenated names, and lengths of contents or of sealed pieces. */
export interface MadePieces {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

/** In place of a length: the file has vanished, or can't be read. */
export const vanished = -1;
export const unreadable = -2;

/** Orders are processed and answered in sequence. */
export function openPieceThread(box: PieceBox): PieceThread {
  const worker = new Worker(new URL("./pieceThread.ts", import.meta.url), { workerData: box.keys });
  const waiting: PromiseWithResolvers<MadePieces>[] = [];
  let batches = 0;
  /** Free buffers for sealed pieces. Reusing them avoids garbage collection. */
  const unused: SharedArrayBuffer[] = [];
  /** Set when the thread has ended. Later calls reject with it too. */
  let end: Error | null = null;

  const fail = (cause: unknown) => {
    end ??= new Error("The thread that makes pieces of backups ended", { cause });
    for (const { reject } of waiting.splice(0)) reject(end);
  };
  worker.on("error", fail);
  worker.on("exit", fail);
  worker.on("message", (made: MadePieces) => waiting.shift()?.resolve(made));

  function send(order: PieceOrder): Promise<MadePieces> {
    if (end !== null) return Promise.reject(end);
    const answer = Promise.withResolvers<MadePieces>();
    waiting.push(answer);
    worker.postMessage(order);
    return answer.promise;
  }

  function memoryOf(bytes: number): SharedArrayBuffer {
    const memory = unused.pop();
    return memory !== undefined && memory.byteLength >= bytes ? memory : new SharedArrayBuffer(bytes);
  }

  const thread: PieceThread = {
    name: async (sources) => {
      const batch = batches++;
      const { bytes, lengths } = await send({ batch, sources });
      if (lengths.includes(unreadable)) {
        await send({ batch, places: [], into: new SharedArrayBuffer(0) });
        return thread.name(await rereadFailed(sources, lengths));
      }
      const names = namesIn(bytes);
      return {
        pieces: lengths.map((length) => pieceOf(length, names)),
        seal: async (places) => {
          const maxBytes = places.reduce((sum, place) => sum + Math.max(lengths[place] ?? 0, 0) + maxOverhead, 0);
          const into = memoryOf(maxBytes);
          const { lengths: sealed } = await send({ batch, places, into });
          const bytes = sealed.reduce((sum, length) => sum + length, 0);
          return { content: Buffer.from(into, 0, bytes), lengths: sealed, done: () => void unused.push(into) };
        },
      };
    },
    close: async () => {
      await worker.terminate();
    },
  };
  return thread;
}

/** Reads unreadable files again in this thread, to report the full error or to recover from a transient one. */
function rereadFailed(sources: readonly PieceSource[], lengths: readonly number[]): Promise<readonly PieceSource[]> {
  const read = async (source: PieceSource, at: number) =>
    lengths[at] === unreadable ? ((await readSource(source)) ?? source) : source;
  return Promise.all(sources.map(read));
}

function* namesIn(bytes: Uint8Array<ArrayBuffer>): Generator<Buffer, undefined> {
  for (let start = 0; start < bytes.length; start += nameBytes) yield Buffer.from(bytes.buffer, start, nameBytes);
}

/** `names` has the names of all pieces that did not vanish, in order. */
function pieceOf(bytes: number, names: Iterator<Buffer, undefined>): NamedPiece | null {
  if (bytes === vanished) return null;
  const { value } = names.next();
  if (value === undefined) throw new Error("The thread that makes pieces of backups returned too few names");
  return { name: value, bytes };
}
