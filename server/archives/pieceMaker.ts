/**
 * Names and seals pieces of backups. Where there is much to be kept that is done by a thread of its own, because it takes a
 * processor, and this one has the API to answer and files to read meanwhile.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { PieceBox } from "./pieceBox.ts";

export interface PieceMaker {
  /** Names, in order. The contents are remembered until they are named anew. */
  name(contents: readonly Buffer[]): Promise<readonly Buffer[]>;
  /** Of the contents that were named last those at these places, sealed, in that order. */
  seal(places: readonly number[]): Promise<readonly Buffer[]>;
  /** Whatever is under way is given up. */
  close(): Promise<void>;
}

/** What the thread is told, and what it answers: names one after the other, or sealed pieces and how long each is. */
export type PieceOrder = { readonly name: readonly Uint8Array[] } | { readonly seal: readonly number[] };
export interface MadePieces {
  readonly bytes: Uint8Array;
  readonly lengths: readonly number[];
}

/** To start a thread takes as long as a few megabytes. */
const worthBytes = 8 << 20;

/** `bytes`: about so much is to be kept. */
export function openPieceMaker(box: PieceBox, bytes: number): PieceMaker {
  return bytes < worthBytes ? makeInPlace(box) : makeBeside(box);
}

/** Between two pieces others have their turn: hashing and encrypting one takes milliseconds. */
function makeInPlace(box: PieceBox): PieceMaker {
  let pieces: readonly { readonly content: Buffer; readonly name: Buffer }[] = [];

  async function each<From, To>(all: readonly From[], make: (one: From) => To): Promise<To[]> {
    const made: To[] = [];
    for (const one of all) {
      await nextTurn();
      made.push(make(one));
    }
    return made;
  }

  return {
    name: async (contents) => {
      pieces = await each(contents, (content) => ({ content, name: box.nameOf(content) }));
      return pieces.map(({ name }) => name);
    },
    seal: (places) =>
      each(places, (place) => {
        const piece = pieces[place];
        if (piece === undefined) throw new RangeError(`Nothing was named at ${place}`);
        return box.seal(piece.content, piece.name);
      }),
    close: async () => undefined,
  };
}

function makeBeside(box: PieceBox): PieceMaker {
  const worker = new Worker(new URL("./pieceThread.ts", import.meta.url), { workerData: box.keys });
  let waiting: PromiseWithResolvers<readonly Buffer[]> | null = null;
  /** Whoever asks after the end hears of it, too. */
  let end: Error | null = null;

  const fail = (cause: unknown) => {
    end ??= new Error("The thread that makes pieces of backups ended", { cause });
    waiting?.reject(end);
    waiting = null;
  };
  worker.on("error", fail);
  worker.on("exit", fail);
  worker.on("message", ({ bytes, lengths }: MadePieces) => {
    waiting?.resolve(parts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), lengths));
    waiting = null;
  });

  function ask(order: PieceOrder): Promise<readonly Buffer[]> {
    if (end !== null) return Promise.reject(end);
    waiting = Promise.withResolvers();
    worker.postMessage(order);
    return waiting.promise;
  }

  return {
    name: (contents) => ask({ name: contents }),
    seal: (places) => ask({ seal: places }),
    close: async () => {
      await worker.terminate();
    },
  };
}

function parts(bytes: Buffer, lengths: readonly number[]): readonly Buffer[] {
  let start = 0;
  return lengths.map((length) => {
    start += length;
    return bytes.subarray(start - length, start);
  });
}
