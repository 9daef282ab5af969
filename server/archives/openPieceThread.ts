/** The caller's side of a thread that makes pieces. */
import { Worker } from "node:worker_threads";
import type { NamedPiece, PieceThread } from "./namedPieces.ts";
import { mostAdded, nameBytes, type PieceBox } from "./pieceBox.ts";
import { type PieceSource, readSource } from "./pieceSource.ts";

/** What the thread is told. `batch` is a number of ours. It has sealed a batch once, and forgets it then. */
export type PieceOrder =
  | { readonly batch: number; readonly sources: readonly PieceSource[] }
  | { readonly batch: number; readonly places: readonly number[]; readonly into: SharedArrayBuffer };

/** What it answers: names, one after the other, and lengths of contents or of sealed pieces. */
export interface MadePieces {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

/** Instead of a length: the file has vanished, or can't be read. */
export const gone = -1;
export const unread = -2;

/** Orders are carried out and answered one after the other. */
export function openPieceThread(box: PieceBox): PieceThread {
  const worker = new Worker(new URL("./pieceThread.ts", import.meta.url), { workerData: box.keys });
  const waiting: PromiseWithResolvers<MadePieces>[] = [];
  let batches = 0;
  /** What it seals into, and nobody needs at this moment: new memory for each would have us look for what is not used any more. */
  const unused: SharedArrayBuffer[] = [];
  /** Also rejects for calls after the end. */
  let end: Error | null = null;

  const fail = (cause: unknown) => {
    end ??= new Error("The thread that makes pieces of backups ended", { cause });
    for (const { reject } of waiting.splice(0)) reject(end);
  };
  worker.on("error", fail);
  worker.on("exit", fail);
  worker.on("message", (made: MadePieces) => waiting.shift()?.resolve(made));

  function ask(order: PieceOrder): Promise<MadePieces> {
    if (end !== null) return Promise.reject(end);
    const asked = Promise.withResolvers<MadePieces>();
    waiting.push(asked);
    worker.postMessage(order);
    return asked.promise;
  }

  function memoryOf(bytes: number): SharedArrayBuffer {
    const memory = unused.pop();
    return memory !== undefined && memory.byteLength >= bytes ? memory : new SharedArrayBuffer(bytes);
  }

  const thread: PieceThread = {
    name: async (sources) => {
      const batch = batches++;
      const { bytes, lengths } = await ask({ batch, sources });
      if (lengths.includes(unread)) {
        await ask({ batch, places: [], into: new SharedArrayBuffer(0) });
        return thread.name(await readUnread(sources, lengths));
      }
      const names = namesIn(bytes);
      return {
        pieces: lengths.map((length) => pieceOf(length, names)),
        seal: async (places) => {
          const most = places.reduce((sum, place) => sum + Math.max(lengths[place] ?? 0, 0) + mostAdded, 0);
          const into = memoryOf(most);
          const { lengths: sealed } = await ask({ batch, places, into });
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

/** What is wrong with a file is said where it can be said in full; what was wrong for a moment only does no harm. */
function readUnread(sources: readonly PieceSource[], lengths: readonly number[]): Promise<readonly PieceSource[]> {
  const read = async (source: PieceSource, at: number) =>
    lengths[at] === unread ? ((await readSource(source)) ?? source) : source;
  return Promise.all(sources.map(read));
}

function* namesIn(bytes: Uint8Array<ArrayBuffer>): Generator<Buffer, undefined> {
  for (let start = 0; start < bytes.length; start += nameBytes) yield Buffer.from(bytes.buffer, start, nameBytes);
}

/** The names are those of the pieces that there are, in order. */
function pieceOf(bytes: number, names: Iterator<Buffer, undefined>): NamedPiece | null {
  if (bytes === gone) return null;
  const { value } = names.next();
  if (value === undefined) throw new Error("The thread that makes pieces of backups named too few");
  return { name: value, bytes };
}
