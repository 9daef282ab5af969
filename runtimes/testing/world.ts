/** A runtime for tests of what each engine promises: `SITEWRIGHT_TEST_ENGINE` says which one (`vitest.config.ts`). */
import type { World } from "../conformance/conformance.ts";
import { openNative } from "../native/testing/world.ts";
import { openPlayground } from "../playground/testing/world.ts";
import type { PoolServing, PoolServingOptions } from "../pool/serving.ts";
import type { WordPressInstall } from "../runtime.ts";
import type { ServedLimits, Serving, UploadLimits } from "../serving.ts";
import type { Site } from "./visitor.ts";

export type EngineName = "playground" | "native";

export const engine: EngineName = process.env.SITEWRIGHT_TEST_ENGINE === "native" ? "native" : "playground";

/** Changes of the default settings. */
export interface WorldChanges extends Partial<PoolServingOptions> {
  readonly packageSource?: string | null;
  readonly uploads?: UploadLimits;
  readonly diskReserveBytes?: number;
  /** Whether sites are on a disk and not in memory, if the engine needs that. */
  readonly isOnDisk?: boolean;
}

export interface SiteWorld extends World {
  readonly serving: Serving & Pick<PoolServing, "status">;
  readonly environments: string;
  /** The default PHP version, and that of `site`. */
  readonly phpVersion: string;
  /**
   * Provisions an environment and serves it in addition to the ones already served. Absent: default settings, and a company that
   * these sites share.
   */
  site(wordpress?: Partial<WordPressInstall>, companyId?: string): Promise<Site>;
  /** Changes the limits of a served site. */
  limit(site: Site, limits: Partial<ServedLimits>): Promise<void>;
}

/** `close` also removes its folder. */
export function openWorld(changes: WorldChanges = {}): Promise<SiteWorld> {
  return engine === "native" ? openNative(changes) : openPlayground(changes);
}
