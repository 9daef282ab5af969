import * as cronEvents from "@sitewright/server/app/sites/cronEvents.ts";
import * as environments from "@sitewright/server/app/sites/environments.ts";
import * as files from "@sitewright/server/app/sites/files.ts";
import * as newEnvironment from "@sitewright/server/app/sites/newEnvironment.ts";
import { push } from "@sitewright/server/app/sites/push.ts";
import { isWithoutBackup } from "../backups/deletion.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const environmentHandlers: HandlersOf<
  | "listEnvironments"
  | "listFiles"
  | "listCronEvents"
  | "createEnvironment"
  | "createPlainEnvironment"
  | "cloneEnvironment"
  | "deleteEnvironment"
  | "pushEnvironment"
> = {
  listEnvironments: async (context, { params }) => ({
    status: 200,
    body: { site: { environments: await environments.list(context, params.site_id) } },
  }),
  listFiles: async (context, { params, query }) => ({
    status: 200,
    body: { environment: await files.list(context, params.env_id, query.path ?? "/") },
  }),
  listCronEvents: async (context, { params, query }) => ({
    status: 200,
    body: { environment: await cronEvents.list(context, params.env_id, query) },
  }),
  createEnvironment: async (context, { params, body }) =>
    accepted("addEnvironment", await newEnvironment.create(context, params.site_id, body)),
  createPlainEnvironment: async (context, { params, body }) =>
    accepted("addPlainEnvironment", await newEnvironment.createPlain(context, params.site_id, body)),
  cloneEnvironment: async (context, { params, body }) =>
    accepted("cloneEnvironment", await newEnvironment.clone(context, params.site_id, body)),
  deleteEnvironment: async (context, { params, ...wish }) =>
    accepted("deleteEnvironment", await environments.remove(context, params.env_id, isWithoutBackup(wish))),
  pushEnvironment: async (context, { params, body }) =>
    accepted("pushEnvironment", await push(context, params.site_id, body)),
};
