/** The caller of a request, as stored in the activity log. */
import type { Actor } from "@sitewright/server/store/database.ts";
import bowser from "bowser";
import type { Caller } from "./access.ts";

const maxUserAgentLength = 1_000;

export function describeActor(caller: Caller, ipAddress: string, userAgent: string | undefined): Actor {
  return {
    userId: caller.userId,
    userRole: caller.role,
    userFullName: caller.fullName,
    userFirstName: caller.firstName,
    apiKeyId: caller.kind === "key" ? caller.keyId : null,
    apiKeyName: caller.kind === "key" ? caller.keyName : null,
    ipAddress,
    ...describeBrowser(userAgent),
  };
}

/** The browser that sends this `User-Agent` header. Null: unknown. */
export function describeBrowser(
  userAgent: string | undefined,
): Pick<Actor, "browserName" | "browserVersion" | "osName"> {
  const browser = userAgent ? bowser.parse(userAgent.slice(0, maxUserAgentLength)) : null;
  return {
    // bowser returns empty strings for unknown values.
    browserName: browser?.browser.name || null,
    browserVersion: browser?.browser.version || null,
    osName: browser?.os.name || null,
  };
}
