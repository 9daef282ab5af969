import * as activity from "@sitewright/server/app/company/activity.ts";
import * as phpVersions from "@sitewright/server/app/sites/phpVersions.ts";
import * as regions from "@sitewright/server/app/sites/regions.ts";
import type { HandlersOf } from "../handling.ts";

export const companyHandlers: HandlersOf<"listActivity" | "listRegions" | "listPhpVersions"> = {
  listActivity: async (context, { query }) => ({
    status: 200,
    body: { company: { activity_logs: await activity.list(context, query) } },
  }),
  listRegions: async () => ({ status: 200, body: { company: { available_regions: regions.list() } } }),
  listPhpVersions: async (context) => ({
    status: 200,
    body: { company: { available_php_versions: phpVersions.list(context) } },
  }),
};
