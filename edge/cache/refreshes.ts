/** Tracks page refreshes: one request refreshes a page while the others get the cached one. */

interface Refreshes {
  /** True unless the page is being refreshed already, or a refresh failed recently. */
  begin(key: string): boolean;
  /** Ends a refresh. The next one may start after the pause. */
  end(key: string, pauseMilliseconds: number): void;
}

/** Limit for the remembered keys. When it is exceeded, all are dropped. */
const maxKeys = 10_000;

export function createRefreshes(now: () => number): Refreshes {
  /** When the next refresh may start. Infinity: one is running. */
  const retryAt = new Map<string, number>();
  return {
    begin: (key) => {
      if (now() < (retryAt.get(key) ?? 0)) return false;
      retryAt.set(key, Infinity);
      return true;
    },
    end: (key, pauseMilliseconds) => {
      if (retryAt.size > maxKeys) retryAt.clear();
      if (pauseMilliseconds === 0) retryAt.delete(key);
      else retryAt.set(key, now() + pauseMilliseconds);
    },
  };
}
