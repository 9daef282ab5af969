/** Who asked, as the activity log remembers it. */
import type { Actor } from "@sitewright/server/store/database.ts";
import bowser from "bowser";
import type { Caller } from "./access.ts";

const longestUserAgent = 1_000;

export function describeActor(caller: Caller, ipAddress: string, userAgent: string | undefined): Actor {
  const browser = userAgent ? bowser.parse(userAgent.slice(0, longestUserAgent)) : null;
  return {
    userId: caller.userId,
    userRole: caller.role,
    userFullName: caller.fullName,
    userFirstName: caller.firstName,
    apiKeyId: caller.keyId,
    apiKeyName: caller.keyName,
    ipAddress,
    // What could not be read is the empty string.
    browserName: browser?.browser.name || null,
    browserVersion: browser?.browser.version || null,
    osName: browser?.os.name || null,
  };
}
