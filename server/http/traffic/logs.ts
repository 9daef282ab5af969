import * as logs from "@sitewright/server/app/traffic/logs.ts";
import type { HandlersOf } from "../handling.ts";

export const logHandlers: HandlersOf<"readLogs"> = {
  readLogs: async (context, { params, query }) => ({
    status: 200,
    body: { environment: await logs.read(context, params.env_id, query) },
  }),
};
