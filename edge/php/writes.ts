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
   * Starts a write that lasts until the returned function is called. Null if it must be refused. `abort` is called
   * if a freeze stops waiting for it.
   */
  begin(environmentId: string, abort: () => void): (() => void) | null;
  /** Starts a read that lasts until `end` is called. `abort` as in `begin`. */
  read(environmentId: string, abort: () => void): Read;
  /** Whether the environment is frozen. */
  isFrozen(environmentId: string): boolean;
  /** Whether a write to the environment is running. */
  isWriting(environmentId: string): boolean;
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

export interface Read {
  /** Whether PHP must not write. */
  readonly isFrozen: boolean;
  end(): void;
}

interface ActiveRequest {
  readonly environmentId: string;
  readonly isWrite: boolean;
  readonly ended: PromiseWithResolvers<void>;
  abort(): void;
}

export function createWrites(freezeSeconds: number): Writes {
  const active = new Set<ActiveRequest>();
  let frozen: ReadonlySet<string> = new Set();
  let changed = Promise.withResolvers<void>();

  function start(options: Omit<ActiveRequest, "ended">): () => void {
    const request: ActiveRequest = { ...options, ended: Promise.withResolvers() };
    active.add(request);
    return () => end(request);
  }

  function end(request: ActiveRequest): void {
    active.delete(request);
    request.ended.resolve();
  }

  /** Resolves when all have ended, or after the freeze's time limit. */
  async function wait(requests: readonly ActiveRequest[]): Promise<void> {
    const allEnded = new AbortController();
    const timeout = delay(freezeSeconds * 1000, undefined, { signal: allEnded.signal, ref: false });
    await Promise.race([Promise.all(requests.map(({ ended }) => ended.promise)), timeout]);
    timeout.catch(() => undefined);
    allEnded.abort();
  }

  return {
    begin(environmentId, abort) {
      if (frozen.has(environmentId)) return null;
      return start({ environmentId, isWrite: true, abort });
    },
    read(environmentId, abort) {
      if (frozen.has(environmentId)) return { isFrozen: true, end: () => undefined };
      return { isFrozen: false, end: start({ environmentId, isWrite: false, abort }) };
    },
    isFrozen: (id) => frozen.has(id),
    isWriting: (id) => [...active].some(({ environmentId, isWrite }) => isWrite && environmentId === id),
    freeze(environmentIds) {
      frozen = new Set(environmentIds);
      changed.resolve();
      changed = Promise.withResolvers();
    },
    async settled(id) {
      const running = [...active].filter(({ environmentId }) => environmentId === id);
      if (running.length > 0) await wait(running);
      for (const request of running) {
        // If the environment was thawed in the meantime, requests may continue.
        if (!active.has(request) || !frozen.has(id)) continue;
        request.abort();
        end(request);
      }
    },
    async thawed(id) {
      while (frozen.has(id)) await changed.promise;
    },
  };
}
