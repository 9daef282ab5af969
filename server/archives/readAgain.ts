/** Reads packs again that a backup leans on, so that it does not only look good because they were good long ago. */
import type { NeededPack } from "./pieceIndex.ts";
import type { PieceStore } from "./pieceStore.ts";
import { isPackWhole } from "./readPieces.ts";

/** How much a backup reads again of what it takes over. */
export interface Reading {
  /** What was not read for so many days. */
  readonly days: number;
  /** For so long at most. */
  readonly milliseconds: number;
  /** What was read since too, the longest unread first, until so much time has passed: but not what was read within the hour. */
  readonly moreMilliseconds: number;
}

export const usualReading: Reading = { days: 7, milliseconds: Infinity, moreMilliseconds: 300 };

const atOnce = 3;
const day = 86_400_000;
const hour = 3_600_000;

/** Also where it was in the future: the clock was put back since. */
function wasReadWithin({ readAt }: NeededPack, milliseconds: number, now: number): boolean {
  if (readAt === null) return false;
  const age = now - readAt.getTime();
  return age >= 0 && age < milliseconds;
}

/** Gives those that are not as they were written. What was read `since` then is not read again. */
export async function readAgain(
  needed: ReadonlyMap<string, NeededPack>,
  { days, milliseconds, moreMilliseconds }: Reading,
  { index, since, ...options }: PieceStore & { readonly since: Date },
): Promise<readonly string[]> {
  const began = Date.now();
  const unread = [...needed].filter(([, { readAt }]) => readAt === null || readAt < since || readAt.getTime() > began);
  const oldestFirst = unread.toSorted(([, a], [, b]) => Number(a.readAt) - Number(b.readAt));
  const isStale = (pack: NeededPack) => !wasReadWithin(pack, days * day, began);
  const stale = oldestFirst.filter(([, pack]) => isStale(pack));
  const others = oldestFirst.filter(([, pack]) => !isStale(pack) && !wasReadWithin(pack, hour, began));
  const damaged: string[] = [];

  async function readAll(packs: [pack: string, facts: NeededPack][], end: number): Promise<void> {
    for (let next = packs.shift(); next !== undefined && Date.now() < end; next = packs.shift()) {
      const [pack] = next;
      if (await isPackWhole(pack, await index.piecesIn(pack), options)) await index.noteRead(pack);
      else damaged.push(pack);
    }
  }

  for (const [packs, end] of [
    [stale, began + milliseconds],
    [others, began + moreMilliseconds],
  ] as const) {
    const ends = await Promise.allSettled(Array.from({ length: atOnce }, () => readAll(packs, end)));
    const failed = ends.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
  return damaged;
}
