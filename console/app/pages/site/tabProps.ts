import type { Environment } from "../../api/sites.ts";

/** What every tab of a site's page gets. */
export interface TabProps {
  readonly environment: Environment;
  readonly siteName: string;
  readonly region: string;
}
