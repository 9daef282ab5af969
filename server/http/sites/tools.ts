import * as tools from "@sitewright/server/app/sites/tools.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const toolHandlers: HandlersOf<"modifyPhpVersion" | "restartPhp"> = {
  modifyPhpVersion: async (context, { body }) =>
    accepted("modifyPhpVersion", await tools.modifyPhpVersion(context, body)),
  restartPhp: async (context, { body }) => accepted("restartPhp", await tools.restartPhp(context, body.environment_id)),
};
