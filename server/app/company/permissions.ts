/** What people may do, for consoles, which show and disable accordingly. `authorise` decides about each call. */
import { createApiKey, listApiKeys } from "@sitewright/contract/company/apiKeys.ts";
import { inviteUser } from "@sitewright/contract/company/invitations.ts";
import { getCompanyLimits } from "@sitewright/contract/company/limits.ts";
import { changeSignInRules } from "@sitewright/contract/company/signInRules.ts";
import { listUsers } from "@sitewright/contract/company/users.ts";
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { createRollout, listRollouts } from "@sitewright/contract/packages/rollouts.ts";
import { createLabel } from "@sitewright/contract/sites/labels.ts";
import { changeLimits } from "@sitewright/contract/sites/limits.ts";
import { createSite, deleteSite } from "@sitewright/contract/sites/sites.ts";
import { clearCache } from "@sitewright/contract/traffic/edgeCaching.ts";
import { type Authority, hasRole, missing } from "./access.ts";

/** For each permission, a call that needs it. */
const calls = {
  create_sites: createSite,
  change_sites: clearCache,
  delete_sites: deleteSite,
  change_limits: changeLimits,
  see_limits: getCompanyLimits,
  see_rollouts: listRollouts,
  manage_rollouts: createRollout,
  see_users: listUsers,
  manage_users: inviteUser,
  manage_sign_in: changeSignInRules,
  see_keys: listApiKeys,
  manage_keys: createApiKey,
  manage_labels: createLabel,
} as const satisfies Record<string, Endpoint>;

/** Whether the caller may make the call for their company, or for the sites that they have. */
export function mayCall(row: Endpoint, caller: Authority): boolean {
  const target = { companyId: "", siteId: caller.userSites?.[0] ?? null, isLive: true };
  return missing(row, caller, target) === null;
}

const names = [
  "create_sites",
  "change_sites",
  "delete_sites",
  "change_limits",
  "see_limits",
  "see_rollouts",
  "manage_rollouts",
  "see_users",
  "manage_users",
  "manage_sign_in",
  "see_keys",
  "manage_keys",
  "manage_labels",
] as const;

interface Person extends Pick<Authority, "role"> {
  readonly site_ids: Authority["userSites"];
}

/** What somebody with this role and these sites may do in a session. */
export function permissionsOf({ role, site_ids }: Person): ((typeof names)[number] | "manage_owners")[] {
  const caller: Authority = { kind: "session", role, scopes: null, labelledSites: [], userSites: site_ids };
  const owners = hasRole(caller, "owner") ? (["manage_owners"] as const) : [];
  return [...names.filter((name) => mayCall(calls[name], caller)), ...owners];
}
