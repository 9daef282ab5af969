/** Reads reused packs again, so that a new backup does not rely on packs that have been damaged since they were last read. */
import type { NeededPack } from "./pieceIndex.ts";
import type { PieceStore } from "./pieceStore.ts";
import { isPackIntact } from "./readPieces.ts";

/** Limits for reading reused packs again. */
export interface Reading {
  /** Reads packs that were not read for this many days. */
  readonly days: number;
  /** Time limit for these packs. */
  readonly milliseconds: number;
  /** Until this time has passed, also reads newer packs, least recently read first, except those read within the last hour. */
  readonly moreMilliseconds: number;
}

export const usualReading: Reading = { days: 7, milliseconds: Infinity, moreMilliseconds: 300 };

const concurrency = 3;
const day = 86_400_000;
const hour = 3_600_000;

/** False for times in the future: the clock was set back. */
function wasReadWithin({ readAt }: NeededPack, milliseconds: number, now: number): boolean {
  if (readAt === null) return false;
  const age = now - readAt.getTime();
  return age >= 0 && age < milliseconds;
}

/** Returns the damaged packs. Packs that were read after `since` are not read again. */
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
  const recent = oldestFirst.filter(([, pack]) => !isStale(pack) && !wasReadWithin(pack, hour, began));
  const damaged: string[] = [];

  async function readAll(packs: [pack: string, facts: NeededPack][], end: number): Promise<void> {
    for (let next = packs.shift(); next !== undefined && Date.now() < end; next = packs.shift()) {
      const [pack] = next;
      if (await isPackIntact(pack, await index.piecesIn(pack), options)) await index.noteRead(pack);
      else damaged.push(pack);
    }
  }

  for (const [packs, end] of [
    [stale, began + milliseconds],
    [recent, began + moreMilliseconds],
  ] as const) {
    const results = await Promise.allSettled(Array.from({ length: concurrency }, () => readAll(packs, end)));
    const failed = results.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
  return damaged;
}
