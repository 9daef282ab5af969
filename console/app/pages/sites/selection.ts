/** The sites that are selected for an action, by id. */
import type { SiteOverview } from "../../api/siteOverviews.ts";

export type Selection = ReadonlyMap<string, SiteOverview>;
