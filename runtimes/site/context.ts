/** What the work on sites needs. */
import type { SiteDatabase } from "./siteDatabase.ts";

export interface SiteContext {
  /** Folder that contains one folder for each environment. */
  readonly environments: string;
  /** Folder of files that all environments share. */
  readonly assets: string;
  readonly database: SiteDatabase;
}
