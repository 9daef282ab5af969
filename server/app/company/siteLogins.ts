/** Logins at sites in the activity log. */
import { systemActor } from "@sitewright/server/store/company/activity.ts";
import type { NamedEnvironment } from "@sitewright/server/store/sites/environments.ts";
import type { RepeatedActivity } from "./repeatedActivity.ts";

interface SiteLogin {
  readonly address: string | null;
  readonly outcome: "failed" | "succeeded";
  readonly byLink: boolean;
  /** Null if the site has no such user. */
  readonly user: string | null;
  readonly count: number;
}

export function noteSiteLogin(
  repeated: RepeatedActivity,
  { companyId, siteId, siteName, environmentName }: NamedEnvironment,
  { address, outcome, byLink, user, count }: SiteLogin,
): void {
  const parameters = { siteName, environmentName, ...(user !== null && { userName: user }) };
  const category = "siteActions";
  const type = byLink ? "useWpLoginLink" : "logInToWp";
  const publicError = outcome === "succeeded" ? null : failureOf(user);
  const actor = { ...systemActor, ipAddress: address };
  repeated.note({ companyId, siteId, category, type, parameters, actor, publicError }, count);
}

function failureOf(user: string | null): string {
  return user === null ? "There is no such user, or the name is unknown." : "The login failed.";
}
