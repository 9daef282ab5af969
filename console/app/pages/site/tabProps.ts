import type { Environment } from "../../api/sites.ts";

/** What every tab of a site's page gets. */
export interface TabProps {
  readonly siteId: string;
  readonly siteName: string;
  readonly region: string;
  /** The one that the page shows. */
  readonly environment: Environment;
  /** All of the site. */
  readonly environments: readonly Environment[];
}
