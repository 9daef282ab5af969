import * as environments from "@sitewright/server/app/environments.ts";
import type { HandlersOf } from "./handling.ts";

export const environmentHandlers: HandlersOf<"listEnvironments"> = {
  listEnvironments: async (context, { params }) => ({
    status: 200,
    body: { site: { environments: await environments.list(context, params.site_id) } },
  }),
};
