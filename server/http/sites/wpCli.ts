import { run } from "@sitewright/server/app/sites/wpCli.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const wpCliHandlers: HandlersOf<"runWpCli"> = {
  runWpCli: async (context, { params, body }) => accepted("runWpCli", await run(context, params.env_id, body)),
};
