import * as cronEvents from "@sitewright/server/app/sites/cronEvents.ts";
import * as environments from "@sitewright/server/app/sites/environments.ts";
import * as files from "@sitewright/server/app/sites/files.ts";
import * as labels from "@sitewright/server/app/sites/labels.ts";
import * as limits from "@sitewright/server/app/sites/limits.ts";
import * as newEnvironment from "@sitewright/server/app/sites/newEnvironment.ts";
import * as newSite from "@sitewright/server/app/sites/newSite.ts";
import { push } from "@sitewright/server/app/sites/push.ts";
import { reset } from "@sitewright/server/app/sites/resetSite.ts";
import * as runtime from "@sitewright/server/app/sites/runtime.ts";
import * as searchAndReplace from "@sitewright/server/app/sites/searchAndReplace.ts";
import * as siteOverviews from "@sitewright/server/app/sites/siteOverviews.ts";
import * as sites from "@sitewright/server/app/sites/sites.ts";
import * as tools from "@sitewright/server/app/sites/tools.ts";
import * as users from "@sitewright/server/app/sites/wordpressUsers.ts";
import * as wpCli from "@sitewright/server/app/sites/wpCli.ts";
import { isWithoutBackup } from "../backups/deletion.ts";
import type { SomeCalls } from "../handling.ts";

export const siteCalls = {
  listSites: (context, { query }) => sites.list(context, query),
  listSiteOverviews: (context, { query }) => siteOverviews.list(context, query),
  createSite: (context, { body }) => newSite.create(context, body),
  createPlainSite: (context, { body }) => newSite.createPlain(context, body),
  cloneSite: (context, { body }) => newSite.clone(context, body),
  getSite: (context, { params }) => sites.get(context, params.site_id),
  deleteSite: (context, { params, ...options }) => sites.remove(context, params.site_id, isWithoutBackup(options)),
  resetSite: (context, { params, body }) => reset(context, params.site_id, body),

  listLabels: (context) => labels.list(context),
  createLabel: (context, { body }) => labels.create(context, body),
  renameLabel: (context, { params, body }) => labels.rename(context, params.label_id, body),
  deleteLabel: (context, { params }) => labels.remove(context, params.label_id),
  assignLabel: (context, { params, body }) => labels.assign(context, params.label_id, body),

  listEnvironments: (context, { params }) => environments.list(context, params.site_id),
  createEnvironment: (context, { params, body }) => newEnvironment.create(context, params.site_id, body),
  createPlainEnvironment: (context, { params, body }) => newEnvironment.createPlain(context, params.site_id, body),
  cloneEnvironment: (context, { params, body }) => newEnvironment.clone(context, params.site_id, body),
  deleteEnvironment: (context, { params, ...options }) =>
    environments.remove(context, params.env_id, isWithoutBackup(options)),
  pushEnvironment: (context, { params, body }) => push(context, params.site_id, body),
  listFiles: (context, { params, query }) => files.list(context, params.env_id, query.path ?? "/"),
  listCronEvents: (context, { params, query }) => cronEvents.list(context, params.env_id, query),

  changeEnvironmentPhpAllocation: (context, { params, body }) => limits.changeAllocation(context, params.env_id, body),
  changeSitePhpAllocation: (context, { params, body }) => limits.changeSiteAllocation(context, params.site_id, body),
  getLimits: (context, { params }) => limits.get(context, params.env_id),
  changeLimits: (context, { params, body }) => limits.change(context, params.env_id, body),

  modifyPhpVersion: (context, { body }) => tools.modifyPhpVersion(context, body),
  getRuntime: (context, { params }) => runtime.get(context, params.env_id),
  changeRuntime: (context, { params, body }) => runtime.change(context, params.env_id, body),
  restartPhp: (context, { body }) => tools.restartPhp(context, body.environment_id),
  searchAndReplace: (context, { body }) => searchAndReplace.start(context, body),
  runWpCli: (context, { params, body }) => wpCli.run(context, params.env_id, body),

  hasWpAdminUser: (context, { params, query }) => users.hasAdministrator(context, params.env_id, query.email),
  createWpAdminUser: async (context, { params, body }) => {
    await users.createAdministrator(context, params.env_id, body);
    return true;
  },
  createWpLoginLink: (context, { params, body }) => users.createLoginLink(context, params.env_id, body.email),
} satisfies SomeCalls;
