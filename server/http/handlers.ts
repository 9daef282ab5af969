/** The handlers of all endpoints that need a key or session; `publicCalls.ts` has the others. They only call the rules in `app`. */
import type { Calls, Handlers, ResponseHandlers } from "@sitewright/contract/endpoints.ts";
import type { Context } from "@sitewright/server/app/context.ts";
import { backupCalls, backupResponseHandlers } from "./backups/calls.ts";
import { companyCalls, companyResponseHandlers } from "./company/calls.ts";
import { domainCalls } from "./domains/calls.ts";
import { operationCalls, operationResponseHandlers } from "./operations.ts";
import { operatorCalls } from "./operator/calls.ts";
import { packageCalls } from "./packages/calls.ts";
import { packageResponseHandlers } from "./packages/packages.ts";
import { siteCalls } from "./sites/calls.ts";
import { trafficCalls } from "./traffic/calls.ts";

export const calls = {
  ...siteCalls,
  ...packageCalls,
  ...domainCalls,
  ...trafficCalls,
  ...backupCalls,
  ...operationCalls,
  ...companyCalls,
  ...operatorCalls,
} satisfies Calls<Context>;

export const responseHandlers = {
  ...packageResponseHandlers,
  ...backupResponseHandlers,
  ...operationResponseHandlers,
  ...companyResponseHandlers,
} satisfies ResponseHandlers<Context>;

export const handlers = { ...calls, ...responseHandlers } satisfies Handlers<Context>;
