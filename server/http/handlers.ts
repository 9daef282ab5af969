/** The handler of every endpoint. They only translate: the rules are in `app`. */
import type { Handlers } from "@sitewright/contract/endpoints.ts";
import type { Context } from "@sitewright/server/app/context.ts";
import { backupHandlers } from "./backups/backups.ts";
import { deletedHandlers } from "./backups/deleted.ts";
import { downloadableBackupHandlers } from "./backups/downloadableBackups.ts";
import { apiKeyHandlers } from "./company/apiKeys.ts";
import { companyHandlers } from "./company/company.ts";
import { certificateHandlers } from "./domains/certificates.ts";
import { dnsRecordHandlers } from "./domains/dnsRecords.ts";
import { domainHandlers } from "./domains/domains.ts";
import { zoneHandlers } from "./domains/zones.ts";
import { operationHandlers } from "./operations.ts";
import { packageHandlers } from "./packages/packages.ts";
import { rolloutHandlers } from "./packages/rollouts.ts";
import { environmentHandlers } from "./sites/environments.ts";
import { limitHandlers } from "./sites/limits.ts";
import { searchAndReplaceHandlers } from "./sites/searchAndReplace.ts";
import { siteHandlers } from "./sites/sites.ts";
import { toolHandlers } from "./sites/tools.ts";
import { wordpressUserHandlers } from "./sites/wordpressUsers.ts";
import { wpCliHandlers } from "./sites/wpCli.ts";
import { deniedIpHandlers } from "./traffic/deniedIps.ts";
import { edgeCachingHandlers } from "./traffic/edgeCaching.ts";
import { logHandlers } from "./traffic/logs.ts";
import { mailHandlers } from "./traffic/mails.ts";
import { redirectRuleHandlers } from "./traffic/redirectRules.ts";

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
