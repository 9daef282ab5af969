/** The caller of a request, as stored in the activity log. */
import type { Actor } from "@sitewright/server/store/database.ts";
import bowser from "bowser";
import type { Caller } from "./access.ts";

const maxUserAgentLength = 1_000;

export function describeActor(caller: Caller, ipAddress: string, userAgent: string | undefined): Actor {
  const browser = userAgent ? bowser.parse(userAgent.slice(0, maxUserAgentLength)) : null;
  return {
    userId: caller.userId,
    userRole: caller.role,
    userFullName: caller.fullName,
    userFirstName: caller.firstName,
    apiKeyId: caller.keyId,
    apiKeyName: caller.keyName,
    ipAddress,
    // bowser returns empty strings for unknown values.
    browserName: browser?.browser.name || null,
    browserVersion: browser?.browser.version || null,
    osName: browser?.os.name || null,
  };
}
