/** The handlers of all calls that the console makes. Without one of them, this file does not compile. */
import type { Calls, EndpointName, PublicHandlers, ResponseHandlers } from "@sitewright/contract/endpoints.ts";
import type { World } from "../world/world.ts";
import { analyticsCalls } from "./analytics.ts";
import { backupCalls, backupHandlers } from "./backups.ts";
import { companyCalls, companyHandlers } from "./company.ts";
import { dnsCalls } from "./dns.ts";
import { domainCalls } from "./domains.ts";
import { environmentCalls } from "./environments.ts";
import { labelCalls } from "./labels.ts";
import { operationCalls, operationHandlers } from "./operations.ts";
import { packageCalls, packageHandlers } from "./packages.ts";
import { invitationHandlers, peopleCalls } from "./people.ts";
import { redirectCalls } from "./redirects.ts";
import { rolloutCalls } from "./rollouts.ts";
import { sessionCalls, signInHandlers, signOutHandlers } from "./sessions.ts";
import { settingCalls } from "./settings.ts";
import { siteCalls } from "./sites.ts";
import { toolCalls } from "./tools.ts";
import { trafficCalls } from "./traffic.ts";

/** Endpoints that the console does not call; `consoleEndpoints.test.ts` says why. Events have a stream of their own. */
export const notCalled = [
  ...(["hasWpAdminUser", "listPluginsOfContainer", "listThemesOfContainer", "updatePlugin", "updateTheme"] as const),
  ...(["getZoneVersion", "getVisitsAnalytics", "getBandwidthAnalytics", "getDiskSpaceAnalytics"] as const),
  ...(["getVisitsThisMonth", "getBandwidthThisMonth", "removeSecondFactor", "listEvents", "validateKey"] as const),
] as const satisfies readonly EndpointName[];

/** Only called where an operator has set up a provider, whose page the demo could not show: `getSignInOptions` names none. */
export const callsOfProvider = [
  ...(["beginProviderSignIn", "readProviderAnswer", "signInWithProvider"] as const),
  ...(["linkProviderAccount", "unlinkProviderAccount"] as const),
] as const satisfies readonly EndpointName[];

type Called<Handlers> = Omit<Handlers, (typeof notCalled | typeof callsOfProvider)[number]>;

/** They return the result in the body, or the id of an operation. */
export const calls = {
  ...siteCalls,
  ...labelCalls,
  ...environmentCalls,
  ...toolCalls,
  ...settingCalls,
  ...analyticsCalls,
  ...redirectCalls,
  ...trafficCalls,
  ...packageCalls,
  ...rolloutCalls,
  ...domainCalls,
  ...dnsCalls,
  ...backupCalls,
  ...operationCalls,
  ...companyCalls,
  ...peopleCalls,
  ...sessionCalls,
} satisfies Called<Calls<World>>;

/** They return whole responses. */
export const handlers = {
  ...packageHandlers,
  ...backupHandlers,
  ...operationHandlers,
  ...companyHandlers,
  ...invitationHandlers,
  ...signInHandlers,
  ...signOutHandlers,
} satisfies Called<ResponseHandlers<World> & PublicHandlers<World>>;
