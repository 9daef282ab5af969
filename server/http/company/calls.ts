import * as activity from "@sitewright/server/app/company/activity.ts";
import { exportLog } from "@sitewright/server/app/company/activityExport.ts";
import * as apiKeys from "@sitewright/server/app/company/apiKeys.ts";
import * as events from "@sitewright/server/app/company/events.ts";
import * as invitations from "@sitewright/server/app/company/invitations.ts";
import { rotate } from "@sitewright/server/app/company/keyRotation.ts";
import * as limits from "@sitewright/server/app/company/limits.ts";
import * as passkeys from "@sitewright/server/app/company/passkeys.ts";
import * as providerAccounts from "@sitewright/server/app/company/providerAccounts.ts";
import * as secondFactors from "@sitewright/server/app/company/secondFactors.ts";
import * as sessions from "@sitewright/server/app/company/sessions.ts";
import * as signInRules from "@sitewright/server/app/company/signInRules.ts";
import * as users from "@sitewright/server/app/company/users.ts";
import { validate } from "@sitewright/server/app/company/validate.ts";
import * as phpVersions from "@sitewright/server/app/sites/phpVersions.ts";
import * as regions from "@sitewright/server/app/sites/regions.ts";
import type { SomeCalls, SomeResponseHandlers } from "../handling.ts";
import { endedCookie } from "../sessionCookies.ts";

const mediaTypes = { jsonl: "application/x-ndjson; charset=utf-8", csv: "text/csv; charset=utf-8" } as const;

export const companyCalls = {
  listApiKeys: (context) => apiKeys.list(context),
  createApiKey: (context, { body }) => apiKeys.create(context, body),
  setAllowedAddresses: (context, { params, body }) =>
    apiKeys.setAddresses(context, params.key_id, body.allowed_addresses),
  rotateApiKey: (context, { params, body }) => rotate(context, params.key_id, body.overlap_hours),
  revokeApiKey: (context, { params, query }) => apiKeys.revoke(context, params.key_id, query.keep_successor),
  getCompanyLimits: (context) => limits.get(context),
  listUsers: (context) => users.list(context),
  changeUser: (context, { params, body }) => users.change(context, params.user_id, body),
  removeUser: (context, { params }) => users.remove(context, params.user_id),
  resetSecondFactor: (context, { params }) => users.resetSecondFactor(context, params.user_id),
  getSignInRules: (context) => signInRules.get(context),
  changeSignInRules: (context, { body }) => signInRules.change(context, body),
  listInvitations: (context) => invitations.list(context),
  inviteUser: (context, { body }) => invitations.invite(context, body),
  withdrawInvitation: (context, { params }) => invitations.withdraw(context, params.invitation_id),
  getSession: (context) => sessions.current(context),
  changePassword: (context, { body }) => sessions.changePassword(context, body),
  getSecondFactor: (context) => secondFactors.get(context),
  beginSecondFactor: (context, { body }) => secondFactors.begin(context, body.current_password),
  confirmSecondFactor: (context, { body }) => secondFactors.confirm(context, body.code),
  replaceRecoveryCodes: (context, { body }) => secondFactors.replaceCodes(context, body.current_password),
  removeAuthenticatorApp: (context, { body }) => secondFactors.removeApp(context, body.current_password),
  beginPasskey: (context, { body }) => passkeys.begin(context, body.current_password),
  addPasskey: (context, { body }) => passkeys.add(context, body),
  removePasskey: (context, { params, body }) => passkeys.remove(context, params.passkey_id, body.current_password),
  listProviderAccounts: (context) => providerAccounts.list(context),
  linkProviderAccount: (context, { body }) => providerAccounts.link(context, body.current_password),
  unlinkProviderAccount: (context, { params, body }) =>
    providerAccounts.unlink(context, params.account_id, body.current_password),
  removeSecondFactor: (context, { body }) => secondFactors.remove(context, body.current_password),
  listSessions: (context) => sessions.list(context),
  endSession: (context, { params }) => sessions.end(context, params.session_id),
  endOtherSessions: (context) => sessions.endOthers(context),
  validateKey: (context) => validate(context),
  listActivity: (context, { query }) => activity.list(context, query),
  listRegions: (context) => regions.list(context),
  listPhpVersions: (context, { query }) => phpVersions.list(context, query.region),
} satisfies SomeCalls;

export const companyResponseHandlers = {
  signOut: async (context) => {
    const session = await sessions.end(context, context.caller.keyId);
    return { status: 200, headers: { "set-cookie": endedCookie(context.origin) }, body: { session } };
  },
  exportActivity: async (context, { query }) => {
    const { format = "jsonl" } = query;
    const headers = {
      "content-type": mediaTypes[format],
      "content-disposition": `attachment; filename="activity.${format}"`,
      "cache-control": "private, no-store",
      "x-content-type-options": "nosniff",
    };
    return { status: 200, headers, body: "", text: exportLog(context, query) };
  },
  listEvents: async (context, { query }) => {
    const headers = {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "private, no-store",
      // Proxies such as nginx would otherwise collect events before they pass them on.
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    };
    return { status: 200, headers, body: "", live: await events.follow(context, query) };
  },
} satisfies SomeResponseHandlers;
