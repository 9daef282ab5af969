/**
 * What PHP is asked at the moment, and the environments to which nobody may write.
 *
 * An environment is frozen while something takes its place that a write could no longer reach. What was written
 * before must be there then, and what comes later must not be acknowledged. So new writes are refused, and those
 * that have begun are waited for, or broken off before anybody is told that they were done.
 *
 * Reading goes on. But a plugin may write while it answers an ordinary page: from then on PHP makes pages that it may
 * not write for, and those that began before are waited for as well.
 */
import { setTimeout as delay } from "node:timers/promises";

export interface Writes {
  /**
   * A write begins, and lasts until what is returned is called. Null if it must be refused. `breakOff` is called where
   * the environment has been frozen since and is not to wait any longer.
   */
  begin(environmentId: string, breakOff: () => void): (() => void) | null;
  /** PHP is asked for a page, and is done with it when `end` is called. `breakOff` as in `begin`. */
  read(environmentId: string, breakOff: () => void): Reading;
  /** Whether something is being written to the environment. */
  isUnderWay(environmentId: string): boolean;
  /** From now on these are frozen, and no others. */
  freeze(environmentIds: readonly string[]): void;
  /**
   * Resolves when nothing that began before is under way in the environment, which must be frozen. Breaks off what
   * takes longer than it may; PHP may then still be at work, but nobody hears that it succeeded.
   */
  settled(environmentId: string): Promise<void>;
  /** Resolves when the environment is not frozen. */
  thawed(environmentId: string): Promise<void>;
}

export interface Reading {
  /** Whether PHP may not write for it. */
  readonly isFrozen: boolean;
  end(): void;
}

interface UnderWay {
  readonly environmentId: string;
  readonly isWrite: boolean;
  readonly ended: PromiseWithResolvers<void>;
  breakOff(): void;
}

export function createWrites(freezeSeconds: number): Writes {
  const underWay = new Set<UnderWay>();
  let frozen: ReadonlySet<string> = new Set();
  let changed = Promise.withResolvers<void>();

  function begin(one: Omit<UnderWay, "ended">): () => void {
    const begun: UnderWay = { ...one, ended: Promise.withResolvers() };
    underWay.add(begun);
    return () => end(begun);
  }

  function end(one: UnderWay): void {
    underWay.delete(one);
    one.ended.resolve();
  }

  /** Resolves when they have ended, or after the time that they may take. */
  async function wait(all: readonly UnderWay[]): Promise<void> {
    const enough = new AbortController();
    const late = delay(freezeSeconds * 1000, undefined, { signal: enough.signal, ref: false });
    await Promise.race([Promise.all(all.map(({ ended }) => ended.promise)), late]);
    late.catch(() => undefined);
    enough.abort();
  }

  return {
    begin(environmentId, breakOff) {
      if (frozen.has(environmentId)) return null;
      return begin({ environmentId, isWrite: true, breakOff });
    },
    read(environmentId, breakOff) {
      if (frozen.has(environmentId)) return { isFrozen: true, end: () => undefined };
      return { isFrozen: false, end: begin({ environmentId, isWrite: false, breakOff }) };
    },
    isUnderWay: (id) => [...underWay].some(({ environmentId, isWrite }) => isWrite && environmentId === id),
    freeze(environmentIds) {
      frozen = new Set(environmentIds);
      changed.resolve();
      changed = Promise.withResolvers();
    },
    async settled(id) {
      const begun = [...underWay].filter(({ environmentId }) => environmentId === id);
      if (begun.length > 0) await wait(begun);
      for (const one of begun) {
        // Writes of an environment that was thawed meanwhile may take any time again.
        if (!underWay.has(one) || !frozen.has(id)) continue;
        one.breakOff();
        end(one);
      }
    },
    async thawed(id) {
      while (frozen.has(id)) await changed.promise;
    },
  };
}
