import { start } from "@sitewright/server/app/sites/searchAndReplace.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const searchAndReplaceHandlers: HandlersOf<"searchAndReplace"> = {
  searchAndReplace: async (context, { body }) => accepted("searchAndReplace", await start(context, body)),
};
