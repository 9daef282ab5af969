/**
 * Tracks running PHP requests, and freezes environments against writes.
 *
 * An environment is frozen while it is replaced by its next release. Earlier writes must be part of that release, and
 * later ones must not be acknowledged, because they would be lost. So new writes are refused, and running writes are
 * waited for or aborted before anyone is told that they succeeded.
 *
 * Reads continue. But a plugin may write while it renders an ordinary page. So while frozen, PHP renders pages without
 * permission to write, and reads that started before are waited for as well.
 */
import { setTimeout as delay } from "node:timers/promises";

export interface Writes {
  /**
   * Starts a write that lasts until the returned function is called. Null if it must be refused. `breakOff` is called
   * if a freeze stops waiting for it.
   */
  begin(environmentId: string, breakOff: () => void): (() => void) | null;
  /** Starts a read that lasts until `end` is called. `breakOff` as in `begin`. */
  read(environmentId: string, breakOff: () => void): Reading;
  /** Whether a write to the environment is running. */
  isUnderWay(environmentId: string): boolean;
  /** Freezes these environments and thaws all others. */
  freeze(environmentIds: readonly string[]): void;
  /**
   * Resolves when all requests that started before the call have ended. The environment must be frozen. Requests that
   * take too long are aborted: PHP may still be running, but no one is told that it succeeded.
   */
  settled(environmentId: string): Promise<void>;
  /** Resolves as soon as the environment is not frozen. */
  thawed(environmentId: string): Promise<void>;
}

export interface Reading {
  /** Whether PHP must not write. */
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

  /** Resolves when all have ended, or after the freeze's time limit. */
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
        // If the environment was thawed in the meantime, requests may continue.
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
