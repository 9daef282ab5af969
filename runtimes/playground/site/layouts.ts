/**
 * What the edge must know of each environment, kept in memory: it is asked for all of them whenever one changes, and a
 * server may have thousands. The link to the current release is made anew with each release, so the link itself tells
 * whether what is known still holds.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import path from "node:path";
import { currentRelease } from "../../releases.ts";
import type { EnvironmentLayout } from "../../runtime.ts";
import { isLost, layoutOf } from "./release.ts";

export interface Layouts {
  /** `live` is the environment's folder. Null if it is not there, or what it should be is lost. */
  of(live: string): Promise<EnvironmentLayout | null>;
}

interface Known {
  readonly link: string;
  readonly layout: EnvironmentLayout;
}

function identityOf({ ino, ctimeNs }: BigIntStats): string {
  return `${ino} ${ctimeNs}`;
}

/** `assets` is the folder of what all environments share. */
export function createLayouts(assets: string): Layouts {
  const known = new Map<string, Known>();
  return {
    async of(live) {
      // Not in a thread: the system has the answer in memory, and a thousand turns of waiting would take longer.
      const facts = lstatSync(path.join(live, "current"), { bigint: true, throwIfNoEntry: false });
      if (facts === undefined) {
        known.delete(live);
        return null;
      }
      const link = identityOf(facts);
      const found = known.get(live);
      if (found?.link === link) return found.layout;
      const release = await currentRelease(live);
      if (release === null || (await isLost(release))) return null;
      const layout = await layoutOf(release, assets);
      known.set(live, { link, layout });
      return layout;
    },
  };
}
