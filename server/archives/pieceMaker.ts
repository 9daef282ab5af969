/**
 * Reads, names and seals pieces of backups. Where there is much to be kept that is done by threads of their own, because it
 * takes a processor, and this one has the API to answer meanwhile.
 */

import { availableParallelism } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { PieceThread } from "./namedPieces.ts";
import { openPieceThread } from "./openPieceThread.ts";
import type { PieceBox } from "./pieceBox.ts";
import { type PieceSource, readSource } from "./pieceSource.ts";

export interface PieceMaker extends PieceThread {
  /** So much more is likely to be kept: the sooner it is said, the sooner there are threads. */
  expect(bytes: number): void;
}

/** To start a thread takes as long as a few megabytes. */
const worthBytes = 8 << 20;
const mostThreads = 2;
/** Files that are read at the same time, because opening one takes longer than reading it. */
const atOnce = 8;

export function openPieceMaker(box: PieceBox): PieceMaker {
  const here = makeInPlace(box);
  let expected = 0;
  let beside: PieceThread | null = null;
  return {
    expect: (bytes) => {
      expected += bytes;
      if (expected >= worthBytes) beside ??= makeBeside(box);
    },
    name: (sources) => (beside ?? here).name(sources),
    close: async () => {
      await beside?.close();
    },
  };
}

/** Between two pieces others have their turn: hashing and encrypting one takes milliseconds. */
function makeInPlace(box: PieceBox): Pick<PieceThread, "name"> {
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
            if (!piece) throw new RangeError(`Nothing was named at ${place}`);
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
  for (let start = 0; start < sources.length; start += atOnce) {
    contents.push(...(await Promise.all(sources.slice(start, start + atOnce).map(readSource))));
  }
  return contents;
}

/** In turns, so that one names the next while another seals. */
function makeBeside(box: PieceBox): PieceThread {
  const threads = Array.from({ length: Math.min(mostThreads, availableParallelism()) }, () => openPieceThread(box));
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
