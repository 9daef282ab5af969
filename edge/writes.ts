/**
 * The requests under way that may write, and the environments to which nobody may at the moment.
 *
 * An environment is frozen while something takes its place that a write could no longer reach. What was written
 * before must be there then, and what comes later must not be acknowledged: so new writes are refused, and those
 * that have begun are waited for, or broken off before anybody is told that they were done.
 */
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

export interface Writes {
  /** A write begins, and lasts until what is returned is called. Null where it must be refused. */
  begin(environmentId: string, response: ServerResponse): (() => void) | null;
  /** Whether something is being written to the environment. */
  isUnderWay(environmentId: string): boolean;
  /** From now on these are frozen, and no others. */
  freeze(environmentIds: readonly string[]): void;
  /**
   * Resolves when no write to the environment is under way, which must be frozen. Breaks off the connections of those
   * that take longer than they may; PHP may then still be at work, but nobody hears that it succeeded.
   */
  settled(environmentId: string): Promise<void>;
}

interface Write {
  readonly environmentId: string;
  readonly response: ServerResponse;
  readonly ended: PromiseWithResolvers<void>;
}

export function createWrites(freezeSeconds: number): Writes {
  const underWay = new Set<Write>();
  let frozen: ReadonlySet<string> = new Set();

  function end(write: Write): void {
    underWay.delete(write);
    write.ended.resolve();
  }

  /** Resolves when they have ended, or after the time that they may take. */
  async function wait(writes: readonly Write[]): Promise<void> {
    const enough = new AbortController();
    const late = delay(freezeSeconds * 1000, undefined, { signal: enough.signal, ref: false });
    await Promise.race([Promise.all(writes.map(({ ended }) => ended.promise)), late]);
    late.catch(() => undefined);
    enough.abort();
  }

  return {
    begin(environmentId, response) {
      if (frozen.has(environmentId)) return null;
      const write: Write = { environmentId, response, ended: Promise.withResolvers() };
      underWay.add(write);
      return () => end(write);
    },
    isUnderWay: (id) => [...underWay].some(({ environmentId }) => environmentId === id),
    freeze(environmentIds) {
      frozen = new Set(environmentIds);
    },
    async settled(id) {
      const writes = [...underWay].filter(({ environmentId }) => environmentId === id);
      if (writes.length > 0) await wait(writes);
      for (const write of writes) {
        // Whoever was thawed meanwhile may take any time again.
        if (!underWay.has(write) || !frozen.has(write.environmentId)) continue;
        write.response.destroy();
        end(write);
      }
    },
  };
}
