/** Which pages are being refreshed, so that one request refreshes a page while the others get the cached one. */

export interface Refreshes {
  /** True unless the page is being refreshed already, or a refresh failed recently. */
  begin(key: string): boolean;
  /** It may be tried again after so many milliseconds. */
  end(key: string, pauseMilliseconds: number): void;
}

/** So many keys are remembered; then all are forgotten. */
const rememberedKeys = 10_000;

export function createRefreshes(now: () => number): Refreshes {
  /** When it may be tried again. Infinity: it is being tried. */
  const again = new Map<string, number>();
  return {
    begin: (key) => {
      if (now() < (again.get(key) ?? 0)) return false;
      again.set(key, Infinity);
      return true;
    },
    end: (key, pauseMilliseconds) => {
      if (again.size > rememberedKeys) again.clear();
      if (pauseMilliseconds === 0) again.delete(key);
      else again.set(key, now() + pauseMilliseconds);
    },
  };
}
