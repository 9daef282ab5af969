/**
 * Caches the layouts of environments in memory: whenever one changes, all are requested, and a server may have
 * thousands. The link to the current release is replaced with each switch, so its identity shows whether the cached
 * layout is still valid.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import path from "node:path";
import { currentRelease } from "../releases.ts";
import type { EnvironmentLayout } from "../runtime.ts";
import { isIncomplete, layoutOf } from "./release.ts";

interface Layouts {
  /**
   * Returns the layout of the environment in the folder `live`, or null if it doesn't exist or its release is
   * incomplete.
   */
  of(live: string): Promise<EnvironmentLayout | null>;
}

interface CachedLayout {
  readonly link: string;
  readonly layout: EnvironmentLayout;
}

function identityOf({ ino, ctimeNs }: BigIntStats): string {
  return `${ino} ${ctimeNs}`;
}

/** Creates the cache. `assets` is the folder of shared files. */
export function createLayouts(assets: string): Layouts {
  const cache = new Map<string, CachedLayout>();
  return {
    async of(live) {
      // Synchronous on purpose: the system has the answer in memory, and a thousand asynchronous calls would take
      // longer.
      const facts = lstatSync(path.join(live, "current"), { bigint: true, throwIfNoEntry: false });
      if (facts === undefined) {
        cache.delete(live);
        return null;
      }
      const link = identityOf(facts);
      const found = cache.get(live);
      if (found?.link === link) return found.layout;
      const release = await currentRelease(live);
      if (release === null || (await isIncomplete(release))) return null;
      const layout = await layoutOf(release, assets);
      cache.set(live, { link, layout });
      return layout;
    },
  };
}
