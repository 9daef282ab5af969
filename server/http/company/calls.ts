import * as activity from "@sitewright/server/app/company/activity.ts";
import * as apiKeys from "@sitewright/server/app/company/apiKeys.ts";
import * as limits from "@sitewright/server/app/company/limits.ts";
import { validate } from "@sitewright/server/app/company/validate.ts";
import * as phpVersions from "@sitewright/server/app/sites/phpVersions.ts";
import * as regions from "@sitewright/server/app/sites/regions.ts";
import type { SomeCalls } from "../handling.ts";

export const companyCalls = {
  listApiKeys: (context) => apiKeys.list(context),
  createApiKey: (context, { body }) => apiKeys.create(context, body),
  revokeApiKey: (context, { params }) => apiKeys.revoke(context, params.key_id),
  getCompanyLimits: (context) => limits.get(context),
  validateKey: (context) => validate(context),
  listActivity: (context, { query }) => activity.list(context, query),
  listRegions: (context) => regions.list(context),
  listPhpVersions: (context) => phpVersions.list(context),
} satisfies SomeCalls;
