/** The handler of every endpoint. They only translate: the rules are in `app`. */
import type { Answerers, Calls, Handlers } from "@sitewright/contract/endpoints.ts";
import type { Context } from "@sitewright/server/app/context.ts";
import { backupAnswerers, backupCalls } from "./backups/calls.ts";
import { companyCalls } from "./company/calls.ts";
import { domainCalls } from "./domains/calls.ts";
import { operationAnswerers, operationCalls } from "./operations.ts";
import { packageCalls } from "./packages/calls.ts";
import { packageAnswerers } from "./packages/packages.ts";
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
} satisfies Calls<Context>;

export const answerers = {
  ...packageAnswerers,
  ...backupAnswerers,
  ...operationAnswerers,
} satisfies Answerers<Context>;

export const handlers = { ...calls, ...answerers } satisfies Handlers<Context>;
