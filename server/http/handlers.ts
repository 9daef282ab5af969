/** The handler of every endpoint. They only translate: the rules are in `app`. */
import type { Handlers } from "@sitewright/contract/endpoints.ts";
import type { Context } from "@sitewright/server/app/context.ts";
import { apiKeyHandlers } from "./apiKeys.ts";
import { backupHandlers } from "./backups.ts";
import { certificateHandlers } from "./certificates.ts";
import { companyHandlers } from "./company.ts";
import { deletedHandlers } from "./deleted.ts";
import { deniedIpHandlers } from "./deniedIps.ts";
import { dnsRecordHandlers } from "./dnsRecords.ts";
import { domainHandlers } from "./domains.ts";
import { downloadableBackupHandlers } from "./downloadableBackups.ts";
import { edgeCachingHandlers } from "./edgeCaching.ts";
import { environmentHandlers } from "./environments.ts";
import { limitHandlers } from "./limits.ts";
import { logHandlers } from "./logs.ts";
import { mailHandlers } from "./mails.ts";
import { operationHandlers } from "./operations.ts";
import { packageHandlers } from "./packages.ts";
import { redirectRuleHandlers } from "./redirectRules.ts";
import { rolloutHandlers } from "./rollouts.ts";
import { searchAndReplaceHandlers } from "./searchAndReplace.ts";
import { siteHandlers } from "./sites.ts";
import { toolHandlers } from "./tools.ts";
import { wordpressUserHandlers } from "./wordpressUsers.ts";
import { wpCliHandlers } from "./wpCli.ts";
import { zoneHandlers } from "./zones.ts";

export const handlers = {
  ...siteHandlers,
  ...environmentHandlers,
  ...wordpressUserHandlers,
  ...toolHandlers,
  ...limitHandlers,
  ...packageHandlers,
  ...rolloutHandlers,
  ...domainHandlers,
  ...certificateHandlers,
  ...dnsRecordHandlers,
  ...zoneHandlers,
  ...deniedIpHandlers,
  ...edgeCachingHandlers,
  ...redirectRuleHandlers,
  ...logHandlers,
  ...backupHandlers,
  ...deletedHandlers,
  ...downloadableBackupHandlers,
  ...mailHandlers,
  ...operationHandlers,
  ...searchAndReplaceHandlers,
  ...wpCliHandlers,
  ...apiKeyHandlers,
  ...companyHandlers,
} satisfies Handlers<Context>;
