/**
 * Reads, names and seals pieces of backups. Large backups use worker threads, so that the main thread can answer API requests
 * in the meantime.
 */

import { availableParallelism } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { PieceThread } from "./namedPieces.ts";
import { openPieceThread } from "./openPieceThread.ts";
import type { PieceBox } from "./pieceBox.ts";
import { type PieceSource, readSource } from "./pieceSource.ts";

export interface PieceMaker extends PieceThread {
  /** Announces this many bytes, so that threads are started early if they are worth it. */
  expect(bytes: number): void;
}

/** Starting a thread takes as long as a few megabytes. */
const worthBytes = 8 << 20;
const maxThreads = 2;
/** Files that are read in parallel, because opening a file takes longer than reading it. */
const concurrency = 8;

export function openPieceMaker(box: PieceBox): PieceMaker {
  const inline = makeInline(box);
  let expected = 0;
  let threads: PieceThread | null = null;
  return {
    expect: (bytes) => {
      expected += bytes;
      if (expected >= worthBytes) threads ??= makeThreads(box);
    },
    name: (sources) => (threads ?? inline).name(sources),
    close: async () => {
      await threads?.close();
    },
  };
}

/** Works in this thread. Yields to other tasks between pieces, because hashing and encrypting one takes milliseconds. */
function makeInline(box: PieceBox): Pick<PieceThread, "name"> {
  async function each<From, To>(all: readonly From[], make: (one: From) => To): Promise<To[]> {
    const made: To[] = [];
    for (const one of all) {
      await nextTurn();
      made.push(make(one));
    }
    return made;
  }

  const nameOne = (content: Buffer | null) =>
    content === null ? null : { content, name: box.nameOf(content), bytes: content.length };

  return {
    name: async (sources) => {
      const contents = await readAll(sources);
      const pieces = await each(contents, nameOne);
      return {
        pieces,
        seal: async (places) => {
          const sealed = await each(places, (place) => {
            const piece = pieces[place];
            if (!piece) throw new RangeError(`There is no piece at ${place}`);
            return box.seal(piece.content, piece.name);
          });
          const lengths = sealed.map(({ length }) => length);
          return { content: Buffer.concat(sealed), lengths, done: () => undefined };
        },
      };
    },
  };
}

async function readAll(sources: readonly PieceSource[]): Promise<readonly (Buffer | null)[]> {
  const contents: (Buffer | null)[] = [];
  for (let start = 0; start < sources.length; start += concurrency) {
    contents.push(...(await Promise.all(sources.slice(start, start + concurrency).map(readSource))));
  }
  return contents;
}

/** Uses the threads in turn, so that one names pieces while another seals. */
function makeThreads(box: PieceBox): PieceThread {
  const threads = Array.from({ length: Math.min(maxThreads, availableParallelism()) }, () => openPieceThread(box));
  let turn = 0;
  return {
    name: async (sources) => {
      const thread = threads[turn++ % threads.length];
      if (thread === undefined) throw new Error("There is no thread");
      return thread.name(sources);
    },
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
