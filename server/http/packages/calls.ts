import * as automaticUpdates from "@sitewright/server/app/packages/automaticUpdates.ts";
import * as packages from "@sitewright/server/app/packages/packages.ts";
import { update, updateSeveral } from "@sitewright/server/app/packages/packageUpdates.ts";
import * as rollouts from "@sitewright/server/app/packages/rollouts.ts";
import * as updateChecks from "@sitewright/server/app/packages/updateChecks.ts";
import * as vulnerabilities from "@sitewright/server/app/packages/vulnerabilities.ts";
import * as wordpressUpdates from "@sitewright/server/app/packages/wordpressUpdates.ts";
import type { SomeCalls } from "../handling.ts";

export const packageCalls = {
  listPlugins: (context, { params, query }) => packages.list(context, params.env_id, "plugin", query),
  listThemes: (context, { params, query }) => packages.list(context, params.env_id, "theme", query),
  updatePlugin: (context, { params, body }) => update(context, params.env_id, "plugin", body),
  updateTheme: (context, { params, body }) => update(context, params.env_id, "theme", body),
  updatePlugins: (context, { params, body }) => updateSeveral(context, params.env_id, "plugin", body.plugins),
  updateThemes: (context, { params, body }) => updateSeveral(context, params.env_id, "theme", body.themes),
  listVulnerabilities: (context, { query }) => vulnerabilities.list(context, query),

  getWordPress: (context, { params }) => wordpressUpdates.get(context, params.env_id),
  updateWordPress: (context, { params, body }) => wordpressUpdates.update(context, params.env_id, body.update_version),

  getUpdateChecks: (context, { params }) => updateChecks.get(context, params.env_id),
  replaceUpdateChecks: (context, { params, body }) => updateChecks.replace(context, params.env_id, body),
  getAutomaticUpdates: (context, { params }) => automaticUpdates.get(context, params.env_id),
  replaceAutomaticUpdates: (context, { params, body }) => automaticUpdates.replace(context, params.env_id, body),

  createRollout: (context, { body }) => rollouts.create(context, body),
  listRollouts: (context, { query }) => rollouts.list(context, query),
  getRollout: (context, { params }) => rollouts.get(context, params.rollout_id),
  cancelRollout: (context, { params }) => rollouts.cancel(context, params.rollout_id),
} satisfies SomeCalls;
