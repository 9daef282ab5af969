/** The handler of every endpoint. They only translate: the rules are in `app`. */
import type { Handlers } from "@sitewright/contract/endpoints.ts";
import type { Context } from "@sitewright/server/app/context.ts";
import { apiKeyHandlers } from "./apiKeys.ts";
import { backupHandlers } from "./backups.ts";
import { companyHandlers } from "./company.ts";
import { deletedHandlers } from "./deleted.ts";
import { downloadableBackupHandlers } from "./downloadableBackups.ts";
import { environmentHandlers } from "./environments.ts";
import { operationHandlers } from "./operations.ts";
import { siteHandlers } from "./sites.ts";
import { toolHandlers } from "./tools.ts";

export const handlers = {
  ...siteHandlers,
  ...environmentHandlers,
  ...toolHandlers,
  ...backupHandlers,
  ...deletedHandlers,
  ...downloadableBackupHandlers,
  ...operationHandlers,
  ...apiKeyHandlers,
  ...companyHandlers,
} satisfies Handlers<Context>;
